package docker

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/distribution/reference"

	"muster/app"
)

const (
	longestDockerfile = 64 << 10 // bytes
	imageField        = "extra.dockerfile"
)

// instructions are those that an image type's Dockerfile may have. ADD fetches from the engine's own network, and ONBUILD does later what is
// looked at here.
var instructions = []string{"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}

var (
	directive = regexp.MustCompile(`(?i)^#\s*(escape|syntax|check)\s*=`)
	goesOn    = regexp.MustCompile(`\\[ \t]*$`)
	twice     = regexp.MustCompile(`\\\\[ \t]*$`)
	hereText  = regexp.MustCompile(`<<-?\s*['"]?[A-Za-z_]`)
	stageForm = regexp.MustCompile(`^[a-z][a-z0-9_.-]*$`)
)

// bases returns the images that a Dockerfile begins with, each once. What engines may read in two ways, and what would reach for something that is in
// none of these
// images, is EInvalid: what a build begins with is then known before it begins.
func bases(text string) (list []string, err error) {
	if len(text) > longestDockerfile {
		return nil, dockerfileError(0, "it exceeds %d KiB", longestDockerfile>>10)
	}
	stages, command, began := []string{}, "", 0
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for n, line := range lines {
		line = strings.TrimFunc(line, unicode.IsSpace)
		switch {
		case strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && (unicode.IsControl(r) || r == '\uFEFF') }):
			return nil, dockerfileError(n+1, "it contains an invisible character")
		case directive.MatchString(line):
			return nil, dockerfileError(n+1, "directives such as syntax and escape aren't supported")
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case hereText.MatchString(line):
			e := dockerfileError(n+1, "here-documents (<<) aren't supported")
			e.Hint = "Use printf instead."
			return nil, e
		case twice.MatchString(line):
			return nil, dockerfileError(n+1, "a line can't end with two backslashes")
		}
		if command == "" {
			began = n + 1
		}
		if goesOn.MatchString(line) {
			command += goesOn.ReplaceAllString(line, " ")
			continue
		}
		if list, stages, err = instruction(command+line, began, list, stages); err != nil {
			return nil, err
		}
		command = ""
	}
	if command != "" {
		return nil, dockerfileError(began, "its last line ends with a backslash, but no line follows")
	}
	if len(list) == 0 {
		return nil, dockerfileError(0, "it has no FROM with an image")
	}
	return list, nil
}

// instruction looks at one, and returns the images and the stages including it.
func instruction(text string, line int, images, stages []string) ([]string, []string, error) {
	words := strings.Fields(text)
	what := strings.ToUpper(words[0])
	if !slices.Contains(instructions, what) {
		e := dockerfileError(line, "%s isn't supported", what)
		e.Hint = "Supported: " + strings.Join(instructions, ", ") + ". There are no files next to the dockerfile; use RUN to download what's needed."
		return nil, nil, e
	}
	if what != "FROM" && what != "ARG" && len(stages) == 0 {
		return nil, nil, dockerfileError(line, "it must start with FROM")
	}
	switch what {
	case "COPY":
		at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), "--from=") })
		if at < 0 {
			e := dockerfileError(line, "COPY requires --from: there are no files to copy")
			e.Hint = "Use RUN to create files, or COPY --from to copy them from an earlier stage."
			return nil, nil, e
		}
		from := strings.ToLower(words[at][len("--from="):])
		if n, err := strconv.Atoi(from); slices.Index(stages, from) < 0 && (err != nil || n < 0 || n >= len(stages)) {
			return nil, nil, dockerfileError(line, "COPY --from=%s isn't an earlier stage", from)
		}
	case "RUN":
		if len(words) > 1 && strings.HasPrefix(words[1], "--") {
			return nil, nil, dockerfileError(line, "RUN %s isn't supported", words[1])
		}
	case "FROM":
		name := strconv.Itoa(len(stages))
		if len(words) == 4 && strings.EqualFold(words[2], "as") {
			name = strings.ToLower(words[3])
			if !stageForm.MatchString(name) || slices.Contains(stages, name) {
				return nil, nil, dockerfileError(line, "%q isn't a valid stage name", words[3])
			}
			words = words[:2]
		}
		if len(words) != 2 || strings.HasPrefix(words[1], "-") || strings.Contains(words[1], "$") {
			e := dockerfileError(line, "FROM supports only an image and AS")
			e.Hint = "Use FROM debian:12, or FROM debian:12 AS build, without variables or options."
			return nil, nil, e
		}
		base := words[1]
		if !slices.Contains(stages, strings.ToLower(base)) && base != "scratch" {
			if _, err := reference.ParseNormalizedNamed(base); err != nil {
				return nil, nil, dockerfileError(line, "%q isn't a valid image name", base)
			}
			if namesBaked(base) {
				return nil, nil, dockerfileError(line, "FROM can't name a baked image")
			}
			if !slices.Contains(images, base) {
				images = append(images, base)
			}
		}
		stages = append(stages, name)
	}
	return images, stages, nil
}

func dockerfileError(line int, format string, args ...any) *app.Error {
	at := ""
	if line > 0 {
		at = ", line " + strconv.Itoa(line)
	}
	e := app.Errorf(app.EInvalid, "The image's dockerfile"+at+": "+format+".", args...)
	e.Field = imageField
	return e
}

package docker

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
)

// Bounds of what fields may say.
const (
	maxEntries = 500
	longestEnv = 32 << 10 // bytes of a value; the command line reads no line over 64 KiB
)

func invalid(field, hint, format string, args ...any) error {
	return &app.Error{Code: app.EInvalid, Reason: "bad_field", Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// entries splits a field at line breaks where there are any, else at commas.
func entries(field, text string) ([]string, error) {
	at := ","
	if strings.Contains(strings.TrimSpace(text), "\n") {
		at = "\n"
	}
	var out []string
	for one := range strings.SplitSeq(text, at) {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	if len(out) > maxEntries {
		return nil, invalid(field, "", "The field %q has more than %d entries.", field, maxEntries)
	}
	return out, nil
}

// port is one port, or a range of them, of a container that the node answers for.
type port struct {
	ip       string // of the node; "" is all of them
	host     string // "": the engine chooses
	inside   string
	protocol string
}

func (p port) String() string {
	s := p.inside + "/" + p.protocol
	switch {
	case p.ip != "":
		return p.ip + ":" + p.host + ":" + s
	case p.host != "":
		return p.host + ":" + s
	}
	return s
}

const hintPorts = "Use node:container, such as 8080:80, 127.0.0.1:53:53/udp or 7000-7005:7000-7005. A single number is used for both."

var portForm = regexp.MustCompile(`^(?:(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]):)?(?:(\d{0,5}(?:-\d{1,5})?):)?(\d{1,5}(?:-\d{1,5})?)(?:/(tcp|udp|sctp))?$`)

// readPorts understands publish_ports. A number alone is the port on both sides; ":80" leaves the node's port to the engine.
func readPorts(text string) ([]port, error) {
	const field = "publish_ports"
	list, err := entries(field, text)
	if err != nil {
		return nil, err
	}
	var out []port
	seen := map[string]bool{}
	for _, one := range list {
		m := portForm.FindStringSubmatch(one)
		if m == nil {
			return nil, invalid(field, hintPorts, "%.80q isn't a valid port mapping.", one)
		}
		p := port{ip: m[1], host: m[2], inside: m[3], protocol: m[4]}
		if p.protocol == "" {
			p.protocol = "tcp"
		}
		if at := portForm.FindStringSubmatchIndex(one); at[4] < 0 { // no colon: the port alone
			p.host = p.inside
		}
		if p.host == "0" {
			p.host = ""
		}
		n, ok := span(p.inside)
		if k, okHost := span(p.host); !ok || p.host != "" && (!okHost || k != n) || p.host == "" && n > 1 {
			return nil, invalid(field, hintPorts, "%.80q isn't a valid port mapping: ports must be 1–65535, and both ranges the same length.", one)
		}
		if key := p.ip + ":" + p.host + "/" + p.protocol; p.host != "" && seen[key] {
			return nil, invalid(field, "", "Port %s is published twice.", p.host)
		} else if p.host != "" {
			seen[key] = true
		}
		out = append(out, p)
	}
	return out, nil
}

// span counts the ports of a range.
func span(s string) (int, bool) {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	a, err := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	return b - a + 1, err == nil && err2 == nil && a >= 1 && b <= 65535 && a <= b
}

const hintVolumes = "Use node:container with paths, such as /data/db:/var/lib/db or /etc/app:/etc/app:ro. A name instead of the first path is a Docker volume."

var (
	volumeName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,200}$`)
	volumeMode = regexp.MustCompile(`^(?:ro|rw|z|Z|nocopy|r?(?:shared|slave|private))(?:,(?:ro|rw|z|Z|nocopy|r?(?:shared|slave|private)))*$`)
)

// readVolumes understands volumes, and returns them in the engine's form.
func readVolumes(text string) ([]string, error) {
	const field = "volumes"
	list, err := entries(field, text)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, one := range list {
		parts := strings.Split(one, ":")
		wrong := invalid(field, hintVolumes, "%.120q isn't a valid volume.", one)
		if strings.ContainsAny(one, "\x00\r\n") || len(parts) > 3 {
			return nil, wrong
		}
		inside := parts[0]
		if len(parts) > 1 {
			inside = parts[1]
			if from := parts[0]; !strings.HasPrefix(from, "/") && !volumeName.MatchString(from) {
				return nil, wrong
			}
		}
		if !strings.HasPrefix(inside, "/") || inside == "/" || len(parts) == 3 && !volumeMode.MatchString(parts[2]) {
			return nil, wrong
		}
		if seen[inside] {
			return nil, invalid(field, "", "Two volumes are mounted at %s.", inside)
		}
		seen[inside] = true
	}
	return list, nil
}

// variable is one of the container's environment.
type variable struct{ name, value string }

const hintVariables = "Use NAME=value, separated by commas or line breaks, or a JSON object. Put values with commas on their own lines."

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,199}$`)
	exportable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// own are variables that the engine's command line or sh would take for itself.
	own = regexp.MustCompile(`^(?:PATH|HOME|IFS|ENV|TMPDIR|SHELL|PWD|LANG|LC_.*|LD_.*|DOCKER_.*|BUILDKIT_.*|MUSTER_.*|muster_.*|(?i:https?_proxy|no_proxy|all_proxy)|SSL_.*|SSH_.*|GODEBUG)$`)
)

// readVariables understands environment_variables, sorted by name.
func readVariables(text string) ([]variable, error) {
	const field = "environment_variables"
	pairs := map[string]string{}
	add := func(name, value string) error {
		_, twice := pairs[name]
		switch {
		case !variableName.MatchString(name):
			return invalid(field, hintVariables, "%.80q isn't a valid variable name.", name)
		case twice:
			return invalid(field, "", "Variable %s is set twice.", name)
		case len(value) > longestEnv:
			return invalid(field, "", "Variable %s has more than %d bytes.", name, longestEnv)
		case strings.ContainsRune(value, 0):
			return invalid(field, "", "Variable %s contains NUL characters.", name)
		case strings.ContainsAny(value, "\n\r") && (own.MatchString(name) || !exportable.MatchString(name)):
			return invalid(field, "Rename it, or put it in a file in a volume.", "Variable %s can't have several lines.", name)
		}
		pairs[name] = value
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var all map[string]any
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return nil, invalid(field, hintVariables, "environment_variables starts like a JSON object but isn't valid JSON.")
		}
		for name, v := range all {
			value, isText := v.(string)
			if !isText {
				b, err := json.Marshal(v)
				if err != nil {
					return nil, invalid(field, hintVariables, "The value of variable %.80s isn't text, a number or a boolean.", name)
				}
				value = string(b)
			}
			if err := add(name, value); err != nil {
				return nil, err
			}
		}
	} else {
		list, err := entries(field, text)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			name, value, ok := strings.Cut(one, "=")
			if !ok { // it may be a piece of a secret: not a word of it
				return nil, invalid(field, hintVariables, "An entry of environment_variables has no \"=\".")
			}
			if err := add(strings.TrimSpace(name), value); err != nil {
				return nil, err
			}
		}
	}
	if len(pairs) > maxEntries {
		return nil, invalid(field, "", "There are more than %d variables.", maxEntries)
	}
	var out []variable
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		out = append(out, variable{name, pairs[name]})
	}
	return out, nil
}

// link lets a container reach another one by a name.
type link struct{ to, alias string }

var linkForm = regexp.MustCompile(`^([a-zA-Z0-9][a-zA-Z0-9_.-]{0,127})(?::([a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}))?$`)

func readLinks(text string) ([]link, error) {
	const field = "links"
	list, err := entries(field, text)
	if err != nil {
		return nil, err
	}
	var out []link
	for _, one := range list {
		m := linkForm.FindStringSubmatch(one)
		if m == nil {
			return nil, invalid(field, "Use the name of a service on this node, or of a container, and an alias: mysql-docker:db.", "%.80q isn't a valid link.", one)
		}
		if m[2] == "" {
			m[2] = m[1]
		}
		out = append(out, link{m[1], m[2]})
	}
	return out, nil
}

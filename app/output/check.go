package output

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/app/humanize"
	"muster/app/secret"
	"muster/app/template"
)

// Bounds of outputs.
const (
	MaxOutputs           = 50       // of a template
	maxOutputValue       = 8 << 10  // bytes of a value as it is written
	MaxOutput            = 64 << 10 // bytes of a value that is shown
	maxOutputDescription = 500      // bytes
)

var (
	outputName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	outputFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
	outputMode = regexp.MustCompile(`^0?[0-7]{3}$`)
	outputEnv  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	outputPath = regexp.MustCompile(`^[^.\s]+(\.[^.\s]+)*$`)
	// reservedEnv are variables that change how shells and programs run.
	reservedEnv = regexp.MustCompile(`^(PATH|HOME|SHELL|USER|IFS|ENV|PS[0-9]|BASH.*|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|NODE_PATH|SSH_.*|SUDO_.*|DOCKER_.*|` +
		`HTTPS?_PROXY|ALL_PROXY|NO_PROXY|CURL_.*|SSL_.*|PYTHON.*|PERL.*|RUBY.*|MUSTER_.*)$`)
)

// Problem is one thing wrong with the declaration of an output. Key is "" where it is about all of it.
type Problem struct {
	Index              int
	Key, Message, Hint string
}

// Check says all that is wrong with a template's outputs as they are declared.
func Check(all []template.Output) (problems []Problem) {
	if len(all) > MaxOutputs {
		problems = append(problems, Problem{Index: MaxOutputs, Hint: "remove some",
			Message: fmt.Sprintf("%d outputs; a template can have at most %d", len(all), MaxOutputs)})
		all = all[:MaxOutputs]
	}
	for i, o := range all {
		say := func(key, hint, format string, args ...any) {
			problems = append(problems, Problem{Index: i, Key: key, Hint: hint, Message: fmt.Sprintf(format, args...)})
		}
		checkWords(o, say)
		checkValue(o, say)
		for _, other := range all[:i] {
			switch {
			case o.Name != "" && o.Name == other.Name:
				say("name", "rename one of them", "output %q is defined twice", o.Name)
			case o.Env != "" && o.Env == other.Env:
				say("env", "use another name", "output %q has the variable %s, too", other.Name, o.Env)
			}
		}
	}
	return problems
}

// checkWords checks all but the value.
func checkWords(o template.Output, say sayer) {
	file := o.Type == template.OutputFile
	switch {
	case o.Name != "" && !outputName.MatchString(o.Name): // a missing one is reported where it was read
		say("name", "use a lowercase letter, then lowercase letters, digits and _, at most 64 in all", "invalid output name %.70q", o.Name)
	case o.Type != "" && !slices.Contains(template.OutputTypes, o.Type):
		say("type", "use text, url, secret or file", "unknown type %.40q", string(o.Type))
	case len(o.Description) > maxOutputDescription:
		say("description", "shorten it", "longer than %d bytes", maxOutputDescription)
	case o.File != "" && !file, o.Mode != "" && !file:
		say("type", "use type: file, or remove file and mode", "only a file has a file name and a mode")
	case o.File != "" && !outputFile.MatchString(o.File):
		say("file", "use a name such as ca.crt, without a folder", "invalid file name %.100q", o.File)
	case o.Mode != "" && !outputMode.MatchString(o.Mode):
		say("mode", "use three octal digits, such as 0600", "invalid mode %.20q", o.Mode)
	case o.Env != "" && !outputEnv.MatchString(o.Env):
		say("env", "use letters, digits and _, such as DATABASE_URL", "invalid variable name %.100q", o.Env)
	case o.Env != "" && reservedEnv.MatchString(o.Env):
		say("env", "use another name", "variable %s changes how programs run", o.Env)
	}
}

// checkValue checks the macros and references of the value.
func checkValue(o template.Output, say sayer) {
	switch {
	case o.Value == "":
		return // reported where it was read
	case len(o.Value) > maxOutputValue:
		say("value", "report a long value as a fact of a service, and use %fact.SERVICE.NAME%", "longer than %s", humanize.Bytes(maxOutputValue))
		return
	case !utf8.ValidString(o.Value) || strings.ContainsRune(o.Value, 0):
		say("value", "", "not valid text")
		return
	}
	for _, p := range Parts(o.Value) {
		switch {
		case p.Text != "":
			checkText(p.Text, say)
		case p.Secret != "" && !secret.IsGenerated(p.Secret):
			say("value", "use a generated secret, such as ${secret:generated/NAME}: each cluster has its own",
				"${secret:%.70s} can't be in an output, since the tenant's secrets are never shown", p.Secret)
		case p.Secret == "" && !outputPath.MatchString(p.Config):
			say("value", "use a path such as ${config:web.port}", "invalid path of the configuration %.70q", p.Config)
		}
	}
	if IsSecret(o) && (o.Type == template.OutputText || o.Type == template.OutputURL) {
		say("type", "use type: secret", "the value has a secret in it, and type %s is shown to everyone who sees the cluster", o.Type)
	}
}

func checkText(text string, say sayer) {
	text, wrong := inner(text, func(path string) (string, string) {
		if !outputPath.MatchString(path) {
			return "0", "invalid path of the configuration " + template.Quoted(path)
		}
		return "0", ""
	})
	if wrong != "" {
		say("value", "use a path such as ${config:web.port}", "%s", wrong)
	}
	if wrong, hint := template.CheckMacros(text); wrong != "" {
		say("value", hint, "%s", strings.TrimSuffix(wrong, "."))
	}
	if at := strings.Index(text, "${"); at >= 0 {
		say("value", "use ${config:PATH} or ${secret:generated/NAME}", "unknown reference %.40q", text[at:])
	}
}

// sayer reports a problem.
type sayer func(key, hint, format string, args ...any)

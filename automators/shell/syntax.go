package shell

import (
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/template"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is parsed; what lies beyond is not judged. The parser calls itself for each thing inside another, and a Go program whose stack is full ends.
const (
	maxScript = 1 << 20
	maxFrames = 20_000
)

// Syntax says what keeps the shell that a script asks for from reading it, before anything runs; nil where nothing does, and for other interpreters
// than sh and bash. It finds what sh -n and bash -n would.
//
// Which shell sh is depends on the node's distribution. What bash alone reads is a warning there, and so is what no parser can tell without running it.
func Syntax(script string) *template.ScriptFault {
	if len(script) > maxScript {
		return nil
	}
	script = strings.ReplaceAll(script, "\r\n", "\n") // as Run does
	switch dialect(interpreter(script)) {
	case syntax.LangPOSIX:
		fault := parse(script, syntax.LangPOSIX)
		if fault == nil || fault.Warning {
			return fault
		}
		if other := parse(script, syntax.LangBash); other != nil && !other.Warning {
			return other // no shell reads it
		}
		fault.Warning = true
		fault.Message += "; it's valid in bash, but sh on Debian, Ubuntu or Alpine may reject it"
		fault.Hint = "Start the script with #!/usr/bin/env bash if the images have bash"
		return fault
	case syntax.LangBash:
		return parse(script, syntax.LangBash)
	}
	return nil
}

// Language is sh or bash, whichever a script is written for, and "" for other interpreters.
func Language(script string) string {
	switch dialect(interpreter(script)) {
	case syntax.LangPOSIX:
		return "sh"
	case syntax.LangBash:
		return "bash"
	}
	return ""
}

// dialect tells whose language a script is written in; 0 where it cannot be checked.
func dialect(command []string) syntax.LangVariant {
	words := strings.Fields(strings.Join(command, " "))
	if path.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return w == "-S" || strings.Contains(w, "=") })
		if len(words) == 0 {
			return 0
		}
	}
	switch path.Base(words[0]) {
	case "sh", "dash", "ash":
		return syntax.LangPOSIX
	case "bash":
		return syntax.LangBash
	}
	return 0
}

func parse(script string, lang syntax.LangVariant) *template.ScriptFault {
	_, err := syntax.NewParser(syntax.Variant(lang)).Parse(&shallow{r: strings.NewReader(script)}, "")
	var (
		wrong   syntax.ParseError
		foreign syntax.LangError
	)
	switch {
	case errors.As(err, &wrong):
		return &template.ScriptFault{Line: int(wrong.Pos.Line()), Column: int(wrong.Pos.Col()), Message: humanize.CutText(wrong.Text, 200), Warning: unsure(wrong.Text)}
	case errors.As(err, &foreign):
		are := "is"
		if strings.HasSuffix(foreign.Feature, "s") {
			are = "are"
		}
		return &template.ScriptFault{Line: int(foreign.Pos.Line()), Column: int(foreign.Pos.Col()),
			Message: fmt.Sprintf("%s %s not part of %s", foreign.Feature, are, names[lang])}
	}
	return nil // also where it is nested too deeply to be judged
}

var names = map[syntax.LangVariant]string{syntax.LangPOSIX: "the POSIX shell", syntax.LangBash: "bash"}

// unsure tells what the parser refuses and shells only look at as they run: sums, for which variables may bring operators, what is done with a parameter, and a
// here-document that ends with the script.
func unsure(text string) bool {
	if strings.Contains(text, `expansion operator: "\n"`) {
		return false // a brace is missing
	}
	return slices.ContainsFunc([]string{"arithmetic", "((", "an expression", "parameter name", "parameter expansion operator", "unclosed here-document", "negate a command"},
		func(s string) bool { return strings.Contains(text, s) })
}

var errTooDeep = errors.New("nested too deeply")

// shallow returns a script to the parser, as long as the parser has not called itself too often: it reads where it is.
type shallow struct{ r io.Reader }

func (s *shallow) Read(p []byte) (int, error) {
	var at [1]uintptr
	if runtime.Callers(maxFrames, at[:]) > 0 {
		return 0, errTooDeep
	}
	return s.r.Read(p)
}

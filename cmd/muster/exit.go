package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/solver/explain"
)

// The exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNoLayout = 3
)

// layoutReasons are the kinds of refusal of a solver. They all end with exitNoLayout: the question was heard, and no
// layout came of it.
var layoutReasons = []string{
	"bad_request", "missing_template", "missing_provider", "size", "no_hardware_types", "no_image_types",
	"incompatible_services", "missing_service", "missing_dependency", "conflict", "no_solution",
}

// usageError is a command line that cannot be obeyed.
type usageError struct {
	message string
	advice  string
}

func usagef(format string, args ...any) *usageError {
	return &usageError{message: fmt.Sprintf(format, args...)}
}

func (e *usageError) hint(format string, args ...any) *usageError {
	e.advice = fmt.Sprintf(format, args...)
	return e
}

// Error gives the message without the advice.
func (e *usageError) Error() string { return e.message }

// silentError ends the program with exitFailed after all was said already.
type silentError struct{}

func (silentError) Error() string { return "failed" }

// exit says what went wrong, on stderr and where JSON is wanted on stdout too, and gives the exit code.
func (c *cli) exit(err error) int {
	if err == nil {
		return exitDone
	}
	if errors.As(err, new(silentError)) {
		return exitFailed
	}
	var ended exitError
	if errors.As(err, &ended) {
		return int(ended)
	}
	code, kind, hint := judge(err)
	message := messageOf(err)
	fmt.Fprintf(c.stderr, "muster: %s\n", message)
	if hint != "" {
		fmt.Fprintf(c.stderr, "  %s\n", strings.ReplaceAll(hint, "\n", "\n  "))
	}
	form := refusalJSON{Error: errorJSON{Kind: kind, Message: message, Hint: hint}}
	var u *unsolvable
	if errors.As(err, &u) {
		form.Explanation = u.explanation
		c.sayMore(u)
	}
	if c.json() && !c.printed {
		_ = c.printJSON(form)
	}
	return code
}

// sayMore tells a person why there is no layout, or how to learn it.
func (c *cli) sayMore(u *unsolvable) {
	if c.json() {
		return
	}
	if u.advice != "" {
		fmt.Fprintf(c.stderr, "  %s\n", u.advice)
	}
	if u.explanation != nil && !empty(*u.explanation) {
		_ = explain.Text(c.stdout, *u.explanation)
	}
}

// messageOf gives the words of an error. Of a catalog's problems only the errors count.
func messageOf(err error) string {
	var problems catalog.Problems
	if !errors.As(err, &problems) {
		return strings.TrimSpace(app.GoWords(err))
	}
	problems = slices.DeleteFunc(slices.Clone(problems), func(p catalog.Problem) bool { return p.Severity != catalog.SeverityError })
	return fmt.Sprintf("the catalog has %s:\n%s", plural(len(problems), "error"), problems)
}

// refusalJSON is the form of an error in --format json. Only solve --explain explains.
type refusalJSON struct {
	Error       errorJSON        `json:"error"`
	Explanation *app.Explanation `json:"explanation,omitempty"`
}

// errorJSON is the error itself.
type errorJSON struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// judge gives the exit code of an error, its kind in one word and what would help.
func judge(err error) (code int, kind, hint string) {
	var usage *usageError
	var e *app.Error
	switch {
	case errors.As(err, &usage):
		return exitUsage, "usage", usage.advice
	case errors.As(err, &e):
	case errors.As(err, new(catalog.Problems)):
		return exitFailed, "catalog", ""
	case errors.Is(err, context.Canceled):
		return exitFailed, string(app.ECancelled), ""
	case errors.Is(err, context.DeadlineExceeded):
		return exitFailed, string(app.ETimeout), ""
	default:
		return exitFailed, string(app.EInternal), ""
	}
	kind = e.Reason
	if kind == "" {
		kind = string(e.Code)
	}
	return codeOf(e), kind, e.Hint
}

func codeOf(e *app.Error) int {
	switch e.Code {
	case app.ENoLayout:
		return exitNoLayout
	case app.EInvalid, app.ENotFound:
		if slices.Contains(layoutReasons, e.Reason) {
			return exitNoLayout
		}
		if e.Code == app.EInvalid && e.Field != "" {
			return exitUsage
		}
	}
	return exitFailed
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/solver/explain"
)

// The exit codes.
const (
	ExitDone     = 0
	ExitFailed   = 1
	ExitUsage    = 2
	ExitNoLayout = 3
)

// layoutReasons are the solver's refusals. They all exit with ExitNoLayout: the request was valid, but no layout exists.
var layoutReasons = []string{
	"bad_request", "missing_template", "missing_provider", "size", "no_hardware_types", "no_image_types",
	"incompatible_services", "missing_service", "missing_dependency", "conflict", "no_solution",
}

// UsageError is an invalid command line.
type UsageError struct {
	message string
	Advice  string
}

func Usagef(format string, args ...any) *UsageError {
	return &UsageError{message: fmt.Sprintf(format, args...)}
}

func (e *UsageError) Hint(format string, args ...any) *UsageError {
	e.Advice = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message without the hint.
func (e *UsageError) Error() string { return e.message }

// SilentError ends the program with ExitFailed without printing anything more.
type SilentError struct{}

func (SilentError) Error() string { return "failed" }

// Exit prints an error to stderr, and with --format json to stdout too, and returns the exit code.
func (c *Context) Exit(err error) int {
	if err == nil {
		return ExitDone
	}
	if errors.As(err, new(SilentError)) {
		return ExitFailed
	}
	var ended ExitError
	if errors.As(err, &ended) {
		return int(ended)
	}
	code, kind, hint := Judge(err)
	message := MessageOf(err)
	fmt.Fprintf(c.Stderr, "muster: %s\n", message)
	if hint != "" {
		fmt.Fprintf(c.Stderr, "  %s\n", strings.ReplaceAll(hint, "\n", "\n  "))
	}
	form := refusalJSON{Error: errorJSON{Kind: kind, Message: message, Hint: hint}}
	var u *Unsolvable
	if errors.As(err, &u) {
		form.Explanation = u.Explanation
		c.sayMore(u)
	}
	if c.JSON() && !c.Printed {
		_ = c.PrintJSON(form)
	}
	return code
}

// sayMore prints why no layout exists, or how to find out.
func (c *Context) sayMore(u *Unsolvable) {
	if c.JSON() {
		return
	}
	if u.Advice != "" {
		fmt.Fprintf(c.Stderr, "  %s\n", u.Advice)
	}
	if u.Explanation != nil && !Empty(*u.Explanation) {
		_ = explain.Text(c.Stdout, *u.Explanation)
	}
}

// MessageOf returns an error's message. Of a catalog's problems it counts only errors.
func MessageOf(err error) string {
	var problems form.Problems
	if !errors.As(err, &problems) {
		return strings.TrimSpace(humanize.PlainError(err))
	}
	problems = slices.DeleteFunc(slices.Clone(problems), func(p form.Problem) bool { return p.Severity != form.SeverityError })
	return fmt.Sprintf("the catalog has %s:\n%s", humanize.Count(len(problems), "error"), problems)
}

// refusalJSON is an error in --format json. Only solve --explain has an explanation.
type refusalJSON struct {
	Error       errorJSON           `json:"error"`
	Explanation *layout.Explanation `json:"explanation,omitempty"`
}

// errorJSON is the error itself.
type errorJSON struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Judge returns an error's exit code, code and hint.
func Judge(err error) (code int, kind, hint string) {
	var usage *UsageError
	var e *app.Error
	switch {
	case errors.As(err, &usage):
		return ExitUsage, "usage", usage.Advice
	case errors.As(err, &e):
	case errors.As(err, new(form.Problems)):
		return ExitFailed, "catalog", ""
	case errors.Is(err, context.Canceled):
		return ExitFailed, string(app.ECancelled), ""
	case errors.Is(err, context.DeadlineExceeded):
		return ExitFailed, string(app.ETimeout), ""
	default:
		return ExitFailed, string(app.EInternal), ""
	}
	kind = e.Reason
	if kind == "" {
		kind = string(e.Code)
	}
	return CodeOf(e), kind, e.Hint
}

func CodeOf(e *app.Error) int {
	switch e.Code {
	case app.ENoLayout:
		return ExitNoLayout
	case app.EInvalid, app.ENotFound:
		if slices.Contains(layoutReasons, e.Reason) {
			return ExitNoLayout
		}
		if e.Code == app.EInvalid && e.Field != "" {
			return ExitUsage
		}
	}
	return ExitFailed
}

// ExitError ends the program with the exit code of a child process, which has printed its own errors.
type ExitError int

func (e ExitError) Error() string { return "exit code " + strconv.Itoa(int(e)) }

// Unsolvable is a solver's refusal with its explanation.
type Unsolvable struct {
	Refusal     error
	Advice      string              // one line on how to find out more
	Explanation *layout.Explanation // why no layout exists
}

// Unwrap returns the refusal.
func (u *Unsolvable) Unwrap() error { return u.Refusal }

// Error returns the refusal alone.
func (u *Unsolvable) Error() string { return u.Refusal.Error() }

func Empty(x layout.Explanation) bool { return len(x.Problems)+len(x.Conflict)+len(x.Fixes) == 0 }

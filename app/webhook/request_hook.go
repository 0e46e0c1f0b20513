package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Bounds of hooks that are asked about requests. People wait for their answers.
const (
	DefaultRequestTimeout = 3 * time.Second
	MaxRequestTimeout     = 10 * time.Second
)

// RequestHook is a hook that is asked about requests, with what it takes to ask it.
type RequestHook struct {
	Endpoint
	Address string // its whole URL
	Secrets [][]byte
}

// Patience is how long an answer may take.
func (h RequestHook) Patience() time.Duration { return cmp.Or(h.Timeout, DefaultRequestTimeout) }

// Wants reports whether the hook is about requests of a kind.
func (h RequestHook) Wants(k app.OperationKind) bool {
	return len(h.Operations) == 0 || slices.Contains(h.Operations, k)
}

// requestKinds are what requests can be for.
func requestKinds() []app.OperationKind {
	return append([]app.OperationKind{app.OperationCreate, app.OperationSleep, app.OperationWake}, app.Updates...)
}

// checkRequestHook says what is wrong with a hook that is asked about requests.
func checkRequestHook(h Endpoint) error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	for _, k := range h.Operations {
		if !slices.Contains(requestKinds(), k) {
			return wrong("operations", fmt.Sprintf("No request is for operation kind %q.", humanize.Clip(string(k))), "One of: "+template.Joined(requestKinds())+".")
		}
	}
	switch {
	case h.Script != "" || len(h.Services) > 0:
		return wrong("script", "A hook for requests calls a URL; there are no nodes to run a script on yet.", "Set a URL instead.")
	case h.Format != HookMuster:
		return wrong("format", fmt.Sprintf("Hooks for requests can't use format %q.", string(h.Format)), "Use muster.")
	case h.Timeout < 0 || h.Timeout > MaxRequestTimeout || h.Timeout > 0 && h.Timeout < 100*time.Millisecond:
		return wrong("timeout", "Timeout must be from 100 ms to 10 s: people wait for the response.", "The default is 3 s.")
	case h.OnTimeout != "" && h.OnTimeout != template.HookVeto && h.OnTimeout != template.HookContinue:
		return wrong("on_timeout", fmt.Sprintf("Unknown value %q for on_timeout.", humanize.Clip(string(h.OnTimeout))), "Use veto or continue.")
	}
	return nil
}

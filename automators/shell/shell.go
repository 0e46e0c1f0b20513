package shell

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/app"
)

const name = "shell"

// Shell runs scripts. It holds nothing, so one value serves all nodes.
type Shell struct{}

var _ app.Automator = Shell{}

// New gives the automator.
func New() Shell { return Shell{} }

// Descriptor carries out app.Automator.
func (Shell) Descriptor() app.Descriptor {
	return app.Descriptor{
		Name:        name,
		Description: "Runs a script on the node.",
		Fields: []app.Field{
			{
				Name: "script", Label: "Script", Required: true,
				Help: "The text of a script. It is run with sh -eu, or with what its first line asks for (#!/usr/bin/env bash). " +
					"The configuration is in CONFIG_… variables.",
			},
			{
				Name: "args", Label: "Arguments",
				Help: "Words for the script, split at spaces; quotes keep a word together.",
			},
		},
	}
}

// Check carries out app.Automator.
func (Shell) Check(fields map[string]string) error {
	script := fields["script"]
	if strings.TrimSpace(script) == "" {
		return &app.Error{
			Code: app.EInvalid, Reason: "missing_field", Field: "script",
			Message: "The shell automator needs a script.", Hint: "Put the text of the script into the field \"script\".",
		}
	}
	if strings.ContainsRune(script, 0) {
		return &app.Error{Code: app.EInvalid, Reason: "not_text", Field: "script", Message: "The script holds NUL characters, so it is no text."}
	}
	if strings.ContainsRune(fields["args"], 0) {
		return &app.Error{Code: app.EInvalid, Reason: "not_text", Field: "args", Message: "The arguments hold NUL characters."}
	}
	_, err := words(fields["args"])
	return err
}

// Bootstrap carries out app.Automator: it makes the directory in which services keep their state, and sees that the node
// has the few tools that Run needs.
func (Shell) Bootstrap(ctx context.Context, sh app.Shell, n app.NodeContext, out app.Output) error {
	var last lastLine
	exit, err := sh.Run(ctx, app.Command{Line: bootstrapLine, Sudo: true}, last.watch(out))
	if app.CodeOf(err) == app.ECredentials {
		say(out, app.AsError(err).Message+" Scripts will run without root rights.")
		exit, err = sh.Run(ctx, app.Command{Line: bootstrapLine}, last.watch(out))
	}
	if err != nil {
		return fmt.Errorf("shell: bootstrap: %w", err)
	}
	if exit != 0 {
		return &app.Error{
			Code: app.EScript, Reason: "bootstrap",
			Message: "The node " + n.Node + " cannot be prepared for scripts" + last.because(),
			Hint:    "The image needs sh, cat, chmod, id, mkdir and rm, and room below /var/lib or in the user's home.",
		}
	}
	return nil
}

// Tools are the programs that the node needs.
func (Shell) Tools() []string { return []string{"cat", "chmod", "id", "mkdir", "rm", "sh"} }

// Run carries out app.Automator.
func (s Shell) Run(ctx context.Context, sh app.Shell, call app.ServiceCall, out app.Output) error {
	if err := s.Check(call.Fields); err != nil {
		return err
	}
	text, warnings, err := payload(call)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		say(out, w)
	}

	var last lastLine
	do := func(sudo bool) (int, error) {
		return sh.Run(ctx, app.Command{Line: runLine, Stdin: strings.NewReader(text), Sudo: sudo, Once: true, Text: true}, last.watch(out))
	}
	exit, err := do(true)
	if app.CodeOf(err) == app.ECredentials {
		exit, err = do(false)
	}
	if err != nil {
		if ctx.Err() != nil {
			sweep(ctx, sh)
		}
		return fmt.Errorf("shell: %s %s: %w", call.Service, call.Action, err)
	}
	if exit != 0 {
		return &app.Error{
			Code: app.EScript, Reason: "exit_code",
			Message: fmt.Sprintf("%s %s ended with exit code %d%s", call.Service, call.Action, exit, last.because()),
		}
	}
	return nil
}

// sweep takes away what a script that had to be killed could not take away itself. What goes on without us stays.
func sweep(ctx context.Context, sh app.Shell) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := sh.Run(ctx, app.Command{Line: prologue, Sudo: true}, nil); app.CodeOf(err) == app.ECredentials {
		_, _ = sh.Run(ctx, app.Command{Line: prologue}, nil)
	}
}

func say(out app.Output, line string) {
	if out != nil {
		out(app.StreamSystem, line)
	}
}

// lastLine remembers the last line that a script said on its error output: mostly the reason.
type lastLine struct {
	mu   sync.Mutex
	text string
}

func (l *lastLine) watch(out app.Output) app.Output {
	return func(s app.Stream, line string) {
		if text := strings.TrimSpace(line); s == app.StreamErr && text != "" {
			l.mu.Lock()
			l.text = text
			l.mu.Unlock()
		}
		if out != nil {
			out(s, line)
		}
	}
}

// because ends a sentence with the reason, if one is known.
func (l *lastLine) because() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return "."
	}
	const most = 300
	if len(l.text) > most {
		return ": " + strings.ToValidUTF8(l.text[:most], "") + "…"
	}
	return ": " + l.text
}

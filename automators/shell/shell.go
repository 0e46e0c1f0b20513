package shell

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/resource"
	"muster/app/template"
	"muster/automators/internal/node"
)

const name = "shell"

// Shell runs scripts. It holds nothing, so one value serves all nodes.
type Shell struct{}

var _ family.Automator = Shell{}

// New returns the automator.
func New() Shell { return Shell{} }

// Descriptor carries out family.Automator.
func (Shell) Descriptor() family.Descriptor {
	return family.Descriptor{
		Name:        name,
		Description: "Runs a script on the node.",
		Fields: []family.Field{
			{
				Name: "script", SetBy: family.SetByTenant, Label: "Script", Type: family.FieldLines, Required: true,
				Help: "The script's text. It runs with sh -eu, or with the interpreter of its first line (#!/usr/bin/env bash). " +
					"The configuration is in CONFIG_… variables. Lines name=value written to the file $MUSTER_OUTPUTS become facts for later steps.",
			},
			{
				Name: "args", SetBy: family.SetByTenant, Label: "Arguments", Type: family.FieldText,
				Help: "Arguments of the script, separated by spaces; quote an argument that has spaces.",
			},
		},
		ResourceTypes: []template.ResourceType{
			{Name: "archive", Label: "Archive", Format: resource.FormatArchive, Help: "A tar, tar.gz or zip, unpacked in $MUSTER_RESOURCES/NAME."},
			{Name: "file", Label: "File", Format: resource.FormatFile, Mode: 0o644, Help: "A file at $MUSTER_RESOURCES/NAME."},
			{Name: "program", Label: "Program", Format: resource.FormatFile, Mode: 0o755, Help: "An executable file at $MUSTER_RESOURCES/NAME."},
		},
	}
}

// Check carries out family.Automator.
func (Shell) Check(fields map[string]string) error {
	script := fields["script"]
	if strings.TrimSpace(script) == "" {
		return &app.Error{
			Code: app.EInvalid, Reason: "missing_field", Field: "script",
			Message: "The shell automator needs a script.", Hint: "Enter the script's text in the field \"script\".",
		}
	}
	if strings.ContainsRune(script, 0) {
		return &app.Error{Code: app.EInvalid, Reason: "not_text", Field: "script", Message: "The script contains NUL characters."}
	}
	if strings.ContainsRune(fields["args"], 0) {
		return &app.Error{Code: app.EInvalid, Reason: "not_text", Field: "args", Message: "The arguments contain NUL characters."}
	}
	_, err := node.Shellwords("args", fields["args"])
	return err
}

// Bootstrap carries out family.Automator: it makes the directory in which services keep their state, and sees that the node
// has the few tools that Run needs.
func (Shell) Bootstrap(ctx context.Context, sh family.Shell, n family.NodeContext, out family.Output) error {
	var last node.LastLine
	exit, err := sh.Run(ctx, family.Command{Line: bootstrapLine, Sudo: true, Fork: true}, last.Watch(out))
	if app.CodeOf(err) == app.ECredentials {
		node.Say(out, app.AsError(err).Message+" Scripts will run without root access.")
		exit, err = sh.Run(ctx, family.Command{Line: bootstrapLine, Fork: true}, last.Watch(out))
	}
	if err != nil {
		return fmt.Errorf("shell: bootstrap: %w", err)
	}
	if exit != 0 {
		return &app.Error{
			Code: app.EScript, Reason: "bootstrap",
			Message: "Can't prepare node " + n.Node + " for scripts" + last.Because(),
			Hint:    "The image needs sh, cat, chmod, id, mkdir and rm, and free space in /var/lib or the user's home.",
		}
	}
	return nil
}

// Tools are the programs that the node needs.
func (Shell) Tools() []string { return []string{"cat", "chmod", "id", "mkdir", "rm", "sh"} }

// Run carries out family.Automator.
func (s Shell) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	if err := s.Check(call.Fields); err != nil {
		return err
	}
	text, warnings, err := payload(call)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		node.Say(out, w)
	}

	var last node.LastLine
	exit, err := node.Do(ctx, sh, family.Command{Line: runLine, Stdin: strings.NewReader(text), Once: true, Text: true}, last.Watch(out))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return fmt.Errorf("shell: %s %s: %w", call.Service, call.Action, err)
	}
	if call.Exited != nil {
		call.Exited(exit)
	}
	if exit != 0 {
		return node.Failed(call, exit, &last)
	}
	if !tells(call) {
		return nil
	}
	if err := node.Tell(ctx, sh, call, out); err != nil {
		return fmt.Errorf("shell: %s %s: %w", call.Service, call.Action, err)
	}
	return nil
}

// tells says whether a script can have found something out: where it does not speak of the file for that, it costs nothing.
func tells(call family.ServiceCall) bool {
	return strings.Contains(call.Fields["script"], "MUSTER_OUTPUTS")
}

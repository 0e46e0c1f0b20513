package docker

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/automators/internal/node"
)

// Name is that of the automator, which is also Coopr's.
const Name = "docker"

const hintImage = "For example, nginx:1.27, registry.example.com/team/app:v3 or nginx@sha256:…."

// Docker runs containers. It holds nothing, so one value serves all nodes.
type Docker struct{}

var _ family.DryRunner = Docker{}

// New returns the automator.
func New() Docker { return Docker{} }

// Descriptor carries out family.Automator.
func (Docker) Descriptor() family.Descriptor {
	return family.Descriptor{
		Name:        Name,
		Description: "Runs a service as a Docker container on the node.",
		Fields: []family.Field{
			{Name: "image_name", SetBy: family.SetByTenant, Label: "Image", Type: family.FieldText, Required: true, Help: hintImage},
			{Name: "environment_variables", SetBy: family.SetByTenant, Label: "Environment variables", Type: family.FieldLines, Help: hintVariables},
			{Name: "links", SetBy: family.SetByTenant, Label: "Links", Type: family.FieldList, Help: "Services or containers on the same node to reach by name, separated by commas: mysql-docker:db."},
			{Name: "volumes", SetBy: family.SetByTenant, Label: "Volumes", Type: family.FieldList, Help: hintVolumes},
			{Name: "publish_ports", SetBy: family.SetByTenant, Label: "Ports", Type: family.FieldList, Help: hintPorts},
			{Name: "command", SetBy: family.SetByTenant, Label: "Command", Type: family.FieldText, Help: "Replaces the image's own command. Visible to everyone on the node; put secrets in environment variables."},
			{Name: "restart_policy", SetBy: family.SetByTenant, Label: "Restart policy", Type: family.FieldText, Default: "unless-stopped", Help: "What Docker does when the container exits: no, always, unless-stopped or on-failure:5."},
			{Name: "network", SetBy: family.SetByTenant, Label: "Network", Type: family.FieldText, Help: "host, none, or a network's name, which is created if it doesn't exist. Leave empty for Docker's default."},
			{Name: "memory", SetBy: family.SetByTenant, Label: "Memory limit", Type: family.FieldText, Help: "The most memory to use, such as 512m or 2g."},
			{Name: "cpus", SetBy: family.SetByTenant, Label: "CPU limit", Type: family.FieldText, Help: "The most CPUs to use, such as 0.5 or 2."},
			{Name: "pull", SetBy: family.SetByTenant, Label: "Pull", Type: family.FieldChoice, Default: pullAlways, Options: []string{pullAlways, pullMissing, pullNever},
				Help: "Whether install pulls an image that the node already has. An image with a digest is pulled only if missing."},
			{Name: "registry_user", SetBy: family.SetByTenant, Label: "Registry user", Type: family.FieldText, Help: "The user name at the image's registry."},
			{Name: "registry_password", SetBy: family.SetByTenant, Label: "Registry password", Type: family.FieldText, Secret: true, Help: "The password or token at the registry, such as ${secret:REGISTRY_TOKEN}."},
			{Name: "settle_seconds", SetBy: family.SetByTenant, Label: "Startup time (s)", Type: family.FieldInt, Default: "2", Help: "How long the container must run to count as started."},
			{Name: "health_seconds", SetBy: family.SetByTenant, Label: "Health timeout (s)", Type: family.FieldInt, Default: "60", Help: "How long the image's health check may take to pass, if it has one."},
		},
	}
}

// Check carries out family.Automator.
func (Docker) Check(fields map[string]string) error {
	plain := map[string]string{}
	for k, v := range fields {
		plain[k] = v
	}
	_, err := readSpec(plain)
	if err == nil {
		return nil
	}
	// Where a catalog is read, macros and references to secrets stand for values that are not known yet.
	for k, v := range plain {
		plain[k] = standsFor(v)
	}
	if _, again := readSpec(plain); again != nil {
		return err
	}
	return nil
}

// Run carries out family.Automator.
func (d Docker) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	s, err := specOf(call)
	if err != nil {
		return err
	}
	if actions[call.Action] == "" {
		return noAction(call)
	}
	var last node.LastLine
	exit, err := node.Do(ctx, sh, family.Command{Line: runLine, Stdin: strings.NewReader(s.payload(call.Action)), Once: true}, last.Watch(out))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return fmt.Errorf("docker: %s %s: %w", call.Service, call.Action, err)
	}
	if exit != 0 {
		e := node.Failed(call, exit, &last)
		if exit == exitMissing {
			e.Reason, e.Hint = "no_docker", adviceMissing
		}
		return e
	}
	if call.Tell == nil || call.Action == app.ActionStop || call.Action == app.ActionRemove || call.Action == app.ActionInstall {
		return nil
	}
	state, err := inspect(ctx, sh, s)
	if err != nil {
		return fmt.Errorf("docker: %s %s: facts: %w", call.Service, call.Action, err)
	}
	if facts := state.facts(s); len(facts) > 0 {
		call.Tell(facts)
	}
	return nil
}

func noAction(call family.ServiceCall) error {
	return &app.Error{Code: app.EInvalid, Reason: "no_action", Field: "automator", Message: fmt.Sprintf("The docker automator doesn't support the action %q.", call.Action),
		Hint: "It supports install, configure, initialize, start, stop, remove, reload and check. Use the shell automator for other actions."}
}

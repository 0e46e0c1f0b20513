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

const hintImage = "It is written like nginx:1.27, registry.example.com/team/app:v3 or nginx@sha256:…."

// Docker runs containers. It holds nothing, so one value serves all nodes.
type Docker struct{}

var _ family.DryRunner = Docker{}

// New returns the automator.
func New() Docker { return Docker{} }

// Descriptor carries out app.Automator.
func (Docker) Descriptor() family.Descriptor {
	return family.Descriptor{
		Name:        Name,
		Description: "Runs a service as a container of the node's Docker Engine.",
		Fields: []family.Field{
			{Name: "image_name", SetBy: family.SetByTenant, Label: "Image", Type: family.FieldText, Required: true, Help: hintImage},
			{Name: "environment_variables", SetBy: family.SetByTenant, Label: "Environment variables", Type: family.FieldLines, Help: hintVariables},
			{Name: "links", SetBy: family.SetByTenant, Label: "Links", Type: family.FieldList, Help: "Services of the same node, or containers, that it reaches by name: mysql-docker:db, with commas between."},
			{Name: "volumes", SetBy: family.SetByTenant, Label: "Volumes", Type: family.FieldList, Help: hintVolumes},
			{Name: "publish_ports", SetBy: family.SetByTenant, Label: "Ports", Type: family.FieldList, Help: hintPorts},
			{Name: "command", SetBy: family.SetByTenant, Label: "Command", Type: family.FieldText, Help: "Words that replace the image's own command. Everybody on the node can see them: secrets belong into the environment."},
			{Name: "restart_policy", SetBy: family.SetByTenant, Label: "Restart", Type: family.FieldText, Default: "unless-stopped", Help: "What the engine does when it ends: no, always, unless-stopped or on-failure:5."},
			{Name: "network", SetBy: family.SetByTenant, Label: "Network", Type: family.FieldText, Help: "host, none, or the name of a network; one that is not there is made. Empty is the engine's own."},
			{Name: "memory", SetBy: family.SetByTenant, Label: "Memory", Type: family.FieldText, Help: "The most that it may use, such as 512m or 2g."},
			{Name: "cpus", SetBy: family.SetByTenant, Label: "CPUs", Type: family.FieldText, Help: "The most that it may use, such as 0.5 or 2."},
			{Name: "pull", SetBy: family.SetByTenant, Label: "Pull", Type: family.FieldChoice, Default: pullAlways, Options: []string{pullAlways, pullMissing, pullNever},
				Help: "Whether install fetches an image that the node has already. One that is named by its digest is fetched only where it is missing."},
			{Name: "registry_user", SetBy: family.SetByTenant, Label: "Registry user", Type: family.FieldText, Help: "The name for the image's registry."},
			{Name: "registry_password", SetBy: family.SetByTenant, Label: "Registry password", Type: family.FieldText, Secret: true, Help: "The password or token for it, such as ${secret:REGISTRY_TOKEN}."},
			{Name: "settle_seconds", SetBy: family.SetByTenant, Label: "Settle", Type: family.FieldInt, Default: "2", Help: "For how long it must run before its start counts as one."},
			{Name: "health_seconds", SetBy: family.SetByTenant, Label: "Health", Type: family.FieldInt, Default: "60", Help: "How long the image's health check may take to pass, where it has one."},
		},
	}
}

// Check carries out app.Automator.
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

// Run carries out app.Automator.
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
	state, err := look(ctx, sh, s)
	if err != nil {
		return fmt.Errorf("docker: %s %s: what it found out: %w", call.Service, call.Action, err)
	}
	if facts := state.facts(s); len(facts) > 0 {
		call.Tell(facts)
	}
	return nil
}

func noAction(call family.ServiceCall) error {
	return &app.Error{Code: app.EInvalid, Reason: "no_action", Field: "automator", Message: fmt.Sprintf("The automator docker cannot carry out %q.", call.Action),
		Hint: "It does install, configure, initialize, start, stop, remove, reload and check; the automator shell does the others."}
}

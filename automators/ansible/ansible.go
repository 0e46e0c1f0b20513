package ansible

import (
	"context"
	"fmt"
	"strings"

	"muster/app/family"
	appresource "muster/app/resource"
	"muster/app/template"
	"muster/automators/internal/node"
)

const name = "ansible"

// Ansible runs ansible-playbook. It holds nothing, so one value serves all nodes.
type Ansible struct{}

var _ family.DryRunner = Ansible{}

// New returns the automator.
func New() Ansible { return Ansible{} }

// Descriptor carries out family.Automator.
func (Ansible) Descriptor() family.Descriptor {
	return family.Descriptor{
		Name:        name,
		Description: "Runs an Ansible playbook on the node.",
		Fields: []family.Field{
			{Name: "playbook", SetBy: family.SetByTenant, Label: "Playbook", Type: family.FieldLines, Help: "The playbook's text, with hosts: all. The configuration is in its variables; the node is in muster."},
			{Name: "playbook_file", SetBy: family.SetByTenant, Label: "Playbook file", Type: family.FieldText, Help: "A playbook from a resource: the resource's name, or name/path in an archive, such as site/playbooks/web.yml."},
			{Name: "roles", SetBy: family.SetByTenant, Label: "Roles", Type: family.FieldList, Help: "Roles to run instead of a playbook, separated by spaces: common web."},
			{Name: "tags", SetBy: family.SetByTenant, Label: "Tags", Type: family.FieldList, Help: "Run only tasks with one of these tags, separated by spaces."},
			{Name: "skip_tags", SetBy: family.SetByTenant, Label: "Tags to skip", Type: family.FieldList, Help: "Skip tasks with one of these tags, separated by spaces."},
			{Name: "version", SetBy: family.SetByTenant, Label: "Minimum version", Type: family.FieldText, Help: "The oldest Ansible (ansible-core) version to accept, such as 2.14. Leave empty for any."},
		},
		ResourceTypes: []template.ResourceType{
			{Name: "role", Label: "Role", Format: appresource.FormatArchive, Help: "One role. Name the resource after the role."},
			{Name: "roles", Label: "Roles", Format: appresource.FormatArchive, Help: "A directory of roles, each in its own folder."},
			{Name: "collection", Label: "Collection", Format: appresource.FormatArchive, Help: "One collection, as built by ansible-galaxy. Name the resource after the collection: ansible.posix."},
			{Name: "project", Label: "Project", Format: appresource.FormatArchive, Help: "Playbooks with their roles, group_vars and files, for the playbook_file field."},
			{Name: "playbook", Label: "Playbook", Format: appresource.FormatFile, Mode: 0o644, Help: "A playbook, for the playbook_file field."},
		},
	}
}

// software is Ansible as package managers know it.
var software = node.Software{
	Name: "Ansible", Program: "ansible-playbook",
	APT: []string{"ansible-core", "ansible"}, RPM: []string{"ansible-core", "ansible"}, Zypper: []string{"ansible-core", "ansible"},
}

// Bootstrap carries out family.Automator: it installs Ansible where it is absent.
func (Ansible) Bootstrap(ctx context.Context, sh family.Shell, n family.NodeContext, out family.Output) error {
	if err := node.Install(ctx, sh, n, software, out); err != nil {
		return fmt.Errorf("ansible: %w", err)
	}
	return nil
}

// Tools are the programs that the node needs besides Ansible, which Bootstrap sees to.
func (Ansible) Tools() []string { return []string{"cat", "head", "id", "ln", "mkdir", "rm", "sh"} }

// Run carries out family.Automator.
func (a Ansible) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	if _, err := a.play(ctx, sh, call, false, out); err != nil {
		return err
	}
	if err := node.Tell(ctx, sh, call, out); err != nil {
		return fmt.Errorf("ansible: %s %s: %w", call.Service, call.Action, err)
	}
	return nil
}

// DryRun carries out family.DryRunner, by --check. What a task runs as a command is not known beforehand, so it isn't reported; tasks that say
// check_mode: false themselves are done even so.
func (a Ansible) DryRun(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) (family.Changes, error) {
	runOutput, err := a.play(ctx, sh, call, true, out)
	if err != nil {
		return family.Changes{}, err
	}
	return runOutput.changes(), nil
}

func (a Ansible) play(ctx context.Context, sh family.Shell, call family.ServiceCall, dry bool, out family.Output) (*runOutput, error) {
	text, warnings, err := a.script(call, dry)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		node.Say(out, w)
	}
	var heard runOutput
	exit, err := node.Do(ctx, sh, family.Command{Line: line, Stdin: strings.NewReader(text), Once: !dry}, heard.watch(out))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return nil, fmt.Errorf("ansible: %s %s: %w", call.Service, call.Action, err)
	}
	if exit != 0 {
		return nil, heard.err(call, exit)
	}
	return &heard, nil
}

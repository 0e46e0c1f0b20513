package puppet

import (
	"context"
	"fmt"
	"strings"

	"muster/app/family"
	appresource "muster/app/resource"
	"muster/app/template"
	"muster/automators/internal/node"
)

const name = "puppet"

// Puppet runs puppet apply. It holds nothing, so one value serves all nodes.
type Puppet struct{}

var _ family.DryRunner = Puppet{}

// New returns the automator.
func New() Puppet { return Puppet{} }

// Descriptor carries out family.Automator.
func (Puppet) Descriptor() family.Descriptor {
	return family.Descriptor{
		Name:        name,
		Description: "Applies a Puppet manifest on the node, without a Puppet server.",
		Fields: []family.Field{
			{Name: "manifest", SetBy: family.SetByTenant, Label: "Manifest", Type: family.FieldLines, Help: "The manifest's text. The configuration is its Hiera data: lookup('lb.port'); the node is in $facts['muster']."},
			{Name: "manifest_file", SetBy: family.SetByTenant, Label: "Manifest file", Type: family.FieldText, Help: "A manifest from a resource: the resource's name, or name/path in an archive, such as site/manifests/site.pp."},
			{Name: "classes", SetBy: family.SetByTenant, Label: "Classes", Type: family.FieldList, Help: "Classes to include, separated by spaces, after the manifest or without one: web web::firewall."},
			{Name: "modules", SetBy: family.SetByTenant, Label: "Modules", Type: family.FieldList, Help: "Resources with modules, or module directories on the node (/opt/modules), separated by spaces. Leave empty for all resources of type module and modules."},
			{Name: "tags", SetBy: family.SetByTenant, Label: "Tags", Type: family.FieldList, Help: "Apply only resources with one of these tags, separated by spaces."},
			{Name: "version", SetBy: family.SetByTenant, Label: "Minimum version", Type: family.FieldText, Help: "The oldest Puppet version to accept, such as 7 or 6.24. Leave empty for any."},
		},
		ResourceTypes: []template.ResourceType{
			{Name: "module", Label: "Module", Format: appresource.FormatArchive, Help: "One module, named after the resource, or after its part behind the last dash: puppetlabs-stdlib is stdlib."},
			{Name: "modules", Label: "Modules", Format: appresource.FormatArchive, Help: "A directory of modules, each in its own folder."},
			{Name: "data", Label: "Hiera data", Format: appresource.FormatArchive, Help: "Hiera data, which the cluster's configuration overrides: nodes/NODE.yaml, then common.yaml."},
			{Name: "manifest", Label: "Manifest", Format: appresource.FormatFile, Mode: 0o644, Help: "A manifest, for the manifest_file field."},
		},
	}
}

// software is Puppet as package managers know it. Debian and Puppet's own packages start an agent that looks for a server, which there is not.
var software = node.Software{
	Name: "Puppet", Program: "puppet", Path: "/opt/puppetlabs/bin",
	APT: []string{"puppet-agent", "puppet"}, RPM: []string{"puppet-agent", "puppet"}, Zypper: []string{"puppet-agent", "puppet"},
	After: `[ ! -d /run/systemd/system ] || systemctl disable --now puppet.service >/dev/null 2>&1 || true`,
}

// Bootstrap carries out family.Automator: it installs Puppet where it is absent.
func (Puppet) Bootstrap(ctx context.Context, sh family.Shell, n family.NodeContext, out family.Output) error {
	if err := node.Install(ctx, sh, n, software, out); err != nil {
		return fmt.Errorf("puppet: %w", err)
	}
	return nil
}

// Tools are the programs that the node needs besides Puppet, which Bootstrap sees to.
func (Puppet) Tools() []string { return []string{"cat", "head", "id", "ln", "mkdir", "rm", "sh"} }

// Run carries out family.Automator.
func (p Puppet) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	text, err := p.script(call, false)
	if err != nil {
		return err
	}
	var failed failure
	exit, err := node.Do(ctx, sh, family.Command{Line: line, Stdin: strings.NewReader(text), Once: true}, failed.watch(out))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return fmt.Errorf("puppet: %s %s: %w", call.Service, call.Action, err)
	}
	if exit != 0 {
		return failed.err(call, exit)
	}
	if err := node.Tell(ctx, sh, call, out); err != nil {
		return fmt.Errorf("puppet: %s %s: %w", call.Service, call.Action, err)
	}
	return nil
}

// DryRun carries out family.DryRunner, by --noop. Resources that say noop => false themselves are changed even so.
func (p Puppet) DryRun(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) (family.Changes, error) {
	text, err := p.script(call, true)
	if err != nil {
		return family.Changes{}, err
	}
	var failed failure
	var seen noop
	exit, err := node.Do(ctx, sh, family.Command{Line: line, Stdin: strings.NewReader(text)}, seen.watch(failed.watch(out)))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return family.Changes{}, fmt.Errorf("puppet: dry run of %s %s: %w", call.Service, call.Action, err)
	}
	if exit != 0 {
		return family.Changes{}, failed.err(call, exit)
	}
	return seen.changes(), nil
}

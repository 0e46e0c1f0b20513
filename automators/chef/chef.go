package chef

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
	appresource "muster/app/resource"
	"muster/app/template"
	"muster/automators/internal/node"
)

// Name is that of the automator, which is also Coopr's.
const Name = "chef-solo"

// Types of resources.
const (
	typeCookbooks = "cookbooks"
	typeDataBags  = "data_bags"
	typeRoles     = "roles"
)

// Chef runs Chef. It holds nothing of nodes, so one value serves all of them.
type Chef struct{ packages []Package }

var _ family.DryRunner = Chef{}

// New returns the automator. Packages are those of Chef or Cinc that nodes may get where their distribution has none: see ParsePackage.
func New(packages ...Package) Chef { return Chef{packages} }

// Descriptor carries out family.Automator.
func (Chef) Descriptor() family.Descriptor {
	return family.Descriptor{
		Name:        Name,
		Description: "Runs recipes with chef-solo or Cinc, in local mode.",
		Fields: []family.Field{
			{Name: "run_list", SetBy: family.SetByTenant, Label: "Run list", Type: family.FieldList, Required: true, Help: "Recipes and roles, separated by commas: recipe[apache2::default],role[web]."},
			{Name: "json_attributes", SetBy: family.SetByTenant, Label: "JSON attributes", Type: family.FieldLines,
				Help: "Attributes of this action, as a JSON object. They override the cluster configuration."},
			{Name: "chef_license", SetBy: family.SetByTenant, Label: "Chef license", Type: family.FieldChoice, Options: []string{"accept", "accept-silent", "accept-no-persist"},
				Help: "How to accept Chef's license (version 15 or later). Not needed for Cinc."},
		},
		ResourceTypes: []template.ResourceType{
			{Name: typeCookbooks, Label: "Cookbooks", Format: appresource.FormatArchive, Common: true, Help: "A tar, tar.gz or zip with one cookbook, or a folder per cookbook."},
			{Name: typeDataBags, Label: "Data bags", Format: appresource.FormatArchive, Common: true, Help: "A tar, tar.gz or zip with the items of one data bag, or a folder per data bag."},
			{Name: typeRoles, Label: "Role", Format: appresource.FormatFile, Mode: 0o644, Common: true, Help: "A role, as JSON or Ruby. Name the resource after the role."},
		},
	}
}

// Check carries out family.Automator.
func (Chef) Check(fields map[string]string) error {
	if _, err := readRunList(macro.ReplaceAllString(fields["run_list"], "x")); err != nil {
		return err
	}
	return checkAttributes(fields["json_attributes"])
}

// Run carries out family.Automator.
func (c Chef) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	return c.converge(ctx, sh, call, false, out)
}

// DryRun carries out family.DryRunner, by Chef's --why-run. What a resource would do depends on those before it, which did nothing: it is Chef's best guess.
func (c Chef) DryRun(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) (family.Changes, error) {
	var found wouldBe
	err := c.converge(ctx, sh, call, true, found.watch(out))
	found.mu.Lock()
	defer found.mu.Unlock()
	return found.changes, err
}

func (c Chef) converge(ctx context.Context, sh family.Shell, call family.ServiceCall, dry bool, out family.Output) error {
	if err := c.Check(call.Fields); err != nil {
		return err
	}
	text, err := payload(call, dry)
	if err != nil {
		return err
	}
	var last reason
	exit, err := node.Do(ctx, sh, family.Command{Line: runLine, Stdin: strings.NewReader(text), Once: !dry}, last.watch(out))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return fmt.Errorf("chef-solo: %s %s: %w", call.Service, call.Action, err)
	}
	if exit == exitMissing {
		return &app.Error{Code: app.EScript, Reason: "no_chef", Message: fmt.Sprintf("%s %s failed with exit code %d: node %s has neither Chef nor Cinc.", call.Service, call.Action, exit, call.Node),
			Hint: adviceMissing}
	}
	if exit != 0 {
		return node.Failed(call, exit, last.words())
	}
	if dry {
		return nil
	}
	if err := node.Tell(ctx, sh, call, out); err != nil {
		return fmt.Errorf("chef-solo: %s %s: %w", call.Service, call.Action, err)
	}
	return nil
}

// reason remembers why a run failed: the last fatal line that says something, else the last error line.
type reason struct {
	fatal, other node.LastLine
	mu           sync.Mutex
	any          bool
}

var (
	fatalLine = regexp.MustCompile(`\b(?:FATAL|ERROR): (.+)$`)
	// boilerplate says that something went wrong, and not what.
	boilerplate = regexp.MustCompile(`^(?:-+|Stacktrace dumped to .*|PLEASE PROVIDE THE CONTENTS.*|Chef::Exceptions::ChildConvergeError.*|Running exception handlers|Exception handlers complete)$`)
)

func (r *reason) watch(out family.Output) family.Output {
	return r.other.Watch(func(s app.Stream, line string) {
		if m := fatalLine.FindStringSubmatch(line); m != nil && !boilerplate.MatchString(strings.TrimSpace(m[1])) {
			r.fatal.Set(strings.TrimSpace(m[1]))
			r.mu.Lock()
			r.any = true
			r.mu.Unlock()
		}
		if out != nil {
			out(s, line)
		}
	})
}

func (r *reason) words() *node.LastLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.any {
		return &r.fatal
	}
	return &r.other
}

// wouldBe reads of the doc format what would be changed. Contents, which it shows as well, are left out.
type wouldBe struct {
	mu       sync.Mutex
	outputs  string // the file for facts, which is none of the node's
	resource string
	changes  family.Changes
}

var (
	resourceLine = regexp.MustCompile(`^\s*\* (\S+\[.*\]) action \S+`)
	wouldLine    = regexp.MustCompile(`^\s+- (Would .+)$`)
)

func (w *wouldBe) watch(out family.Output) family.Output {
	return func(s app.Stream, line string) {
		if shown := w.add(line); shown && out != nil {
			out(s, line)
		}
	}
}

// add reports whether the line is for people.
func (w *wouldBe) add(line string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if path, ok := strings.CutPrefix(line, markOutputs); ok && w.outputs == "" {
		w.outputs = path
		return false
	}
	if m := resourceLine.FindStringSubmatch(line); m != nil {
		w.resource = m[1]
	} else if m := wouldLine.FindStringSubmatch(line); m != nil && (w.outputs == "" || !strings.Contains(w.resource, w.outputs)) {
		w.changes.Add(strings.TrimPrefix(w.resource+": "+strings.TrimSpace(m[1]), ": "))
	}
	return true
}

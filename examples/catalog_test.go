package examples_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/app"
	applayout "muster/app/layout"
	appplan "muster/app/plan"
	apptemplate "muster/app/template"
	"muster/automators/shell"
	"muster/planner"
	"muster/solver"
)

// library is the first line of scripts that use the base service's functions.
const library = `. "${MUSTER_STATE%/*}/base/lib.sh"`

// sizes are typical sizes, in addition to the smallest that a template allows.
func sizes(t *apptemplate.Template) []int {
	least := max(t.Constraints.Size.Min, 1)
	out := []int{least}
	for _, n := range []int{3, 5, 7} {
		if n > least && (t.Constraints.Size.Max == 0 || n <= t.Constraints.Size.Max) {
			out = append(out, n)
		}
	}
	return out
}

// TestEveryTemplateCanBeMade solves and plans each template for its sizes, and expands its configuration on every node.
func TestEveryTemplateCanBeMade(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, name := range slices.Sorted(maps.Keys(c.Templates)) {
		template := c.Templates[name]
		if template.Label == "" || template.Description == "" {
			t.Errorf("%s: a label or description is missing", name)
		}
		for _, size := range sizes(template) {
			t.Run(fmt.Sprintf("%s of %d", name, size), func(t *testing.T) {
				layout, err := solver.New().Solve(t.Context(), c, applayout.Request{Template: name, Size: size})
				if err != nil {
					t.Fatal(err)
				}
				makeIt(t, c, template, layout)
			})
		}
	}
}

func makeIt(t *testing.T, c *apptemplate.Catalog, template *apptemplate.Template, layout applayout.Layout) {
	t.Helper()
	r := appplan.Request{Kind: app.OperationCreate, Nodes: appplan.Nodes(layout), Config: template.Defaults.Config, Services: map[string]*apptemplate.Service{}}
	var nodes []app.Node
	address := netip.MustParseAddr("10.9.0.1")
	for _, n := range r.Nodes {
		address = address.Next()
		nodes = append(nodes, app.Node{Name: n.Name, Hostname: "c-1-" + n.Name + ".internal", Services: n.Services,
			Addresses: map[string]string{app.AddressBind: address.String(), app.AddressAccess: address.String()}})
		for _, s := range n.Services {
			r.Services[s] = c.Services[s]
		}
	}
	plan, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Steps) < 3*len(nodes) {
		t.Errorf("%d steps for %d nodes", len(plan.Steps), len(nodes))
	}
	waitsForBase(t, c, plan)
	macros, err := apptemplate.ParseMacros(template.Defaults.Config)
	if err != nil {
		t.Fatal(err)
	}
	all := apptemplate.NewMacroCluster("someone", nodes)
	shared, err := macros.Shared(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		config, err := shared.For(n)
		if err != nil {
			t.Fatal(err)
		}
		// Macros of services that no node has stay as written; scripts skip them.
		text := speaksOf.ReplaceAllStringFunc(fmt.Sprint(config), func(m string) string {
			if r.Services[speaksOf.FindStringSubmatch(m)[1]] == nil {
				return ""
			}
			return m
		})
		if strings.Contains(text, "%") {
			t.Errorf("a macro is left on %s: %s", n.Name, text)
		}
		for _, s := range n.Services {
			scriptsKnow(t, c.Services[s], config)
			if h := c.Services[s].Health; h != nil {
				if _, err := h.Expand(all, n, config); err != nil {
					t.Errorf("health of %s on %s: %v", s, n.Name, err)
				}
			}
		}
	}
	for _, l := range template.Links {
		if _, err := apptemplate.ExpandString(l.URL, all, nil); err != nil {
			t.Errorf("link %s: %v", l.URL, err)
		}
	}
}

// waitsForBase checks that scripts that source the library run only after base is installed on their node.
func waitsForBase(t *testing.T, c *apptemplate.Catalog, plan appplan.Plan) {
	t.Helper()
	before := make([]map[string]bool, len(plan.Steps)) // what is done before each, as NODE.SERVICE.ACTION
	for i, s := range plan.Steps {
		before[i] = map[string]bool{}
		for _, n := range plan.NeedsOf(i) {
			before[i][plan.Steps[n].ID] = true
			maps.Copy(before[i], before[n])
		}
		if service := c.Services[s.Service]; !s.Join && service != nil && service.Actions[s.Action] != nil &&
			strings.Contains(service.Actions[s.Action].Fields["script"], library) && !before[i][s.Node+".base.install"] {
			t.Errorf("%s may run before base is installed on its node", s.ID)
		}
	}
}

var speaksOf = regexp.MustCompile(`%[^% ]*\b(?:ip|host|num)\.service\.([a-z0-9-]+)[^%]*%`)

var configured = regexp.MustCompile(`\$\{?(CONFIG_[A-Z0-9_]+)`)

// scriptsKnow checks that all configuration variables that a service's scripts use are set: with sh -u they would fail otherwise.
func scriptsKnow(t *testing.T, s *apptemplate.Service, config map[string]any) {
	t.Helper()
	have := map[string]bool{}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for k, v := range m {
			key := prefix + "_" + strings.ToUpper(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
					return r
				}
				return '_'
			}, k))
			if sub, ok := v.(map[string]any); ok {
				walk(key, sub)
			} else {
				have[key] = true
			}
		}
	}
	walk("CONFIG", config)
	for action, call := range s.Actions {
		for _, m := range configured.FindAllStringSubmatch(call.Fields["script"], -1) {
			if !have[m[1]] {
				t.Errorf("%s.%s asks for $%s, which the template does not configure", s.Name, action, m[1])
			}
		}
	}
}

// TestEveryServiceIsChecked checks that each service has a health check, or a comment that says why not.
func TestEveryServiceIsChecked(t *testing.T) {
	t.Parallel()
	c := load(t)
	texts := ""
	files, err := filepath.Glob("catalog/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts += string(b) + "\n---\n"
	}
	for name, s := range c.Services {
		if s.Label == "" || s.Description == "" {
			t.Errorf("%s: a label or description is missing", name)
		}
		_, entry, found := strings.Cut(texts, "kind: service\nname: "+name+"\n")
		entry, _, _ = strings.Cut(entry, "\n---\n")
		if !found {
			t.Errorf("%s isn't in any file", name)
		}
		if s.Health == nil && !strings.Contains(entry, "\n# No health check: ") {
			t.Errorf("%s has no health check, and does not say why", name)
		}
	}
}

// scripts returns each script with the library in its place, by service and action.
func scripts(t *testing.T, c *apptemplate.Catalog) map[string]string {
	t.Helper()
	_, rest, found := strings.Cut(c.Services["base"].Actions[app.ActionInstall].Fields["script"], "<<'LIB'\n")
	lib, _, ended := strings.Cut(rest, "\nLIB\n")
	if !found || !ended {
		t.Fatal("the service base holds no library")
	}
	out := map[string]string{"library": lib + "\n"}
	for name, s := range c.Services {
		for action, call := range s.Actions {
			text := call.Fields["script"]
			if strings.Contains(text, library) && !slices.Contains(s.Install.Requires, "base") {
				t.Errorf("%s.%s needs the service base, and does not require it", name, action)
			}
			out[name+"."+string(action)] = strings.Replace(text, library, lib, 1)
		}
	}
	return out
}

// TestReloadsThatDoSomethingAreCalled checks that services with a real reload action also have a configure action: others aren't reloaded when nodes
// are added or removed.
func TestReloadsThatDoSomethingAreCalled(t *testing.T) {
	t.Parallel()
	for name, s := range load(t).Services {
		reload := s.Actions[app.ActionReload]
		if reload == nil || s.Actions[app.ActionConfigure] != nil {
			continue
		}
		if text := strings.TrimSpace(reload.Fields["script"]); strings.Contains(text, "\n") || !strings.HasPrefix(text, "echo ") {
			t.Errorf("%s has a reload that is never called, because it has no configure", name)
		}
	}
}

func TestEveryScriptIsShell(t *testing.T) {
	t.Parallel()
	for name, text := range scripts(t, load(t)) {
		if fault := shell.Syntax(text); fault != nil {
			t.Errorf("%s: %+v", name, *fault)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-n")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// shellcheck checks scripts, and returns its findings.
func shellcheck(ctx context.Context, t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	// Lists in one text are split on purpose; variables come from the configuration; heredocs contain other programs.
	args := []string{"-s", "sh", "-f", "gcc", "-e", "SC2086,SC2154,SC2034,SC1090,SC1091,SC2317,SC2153,SC2012,SC3045,SC2016,SC2015,SC2013,SC2018,SC2019,SC2119,SC2120"}
	for name, text := range all {
		f := filepath.Join(dir, name)
		if err := os.WriteFile(f, []byte("#!/bin/sh\nset -eu\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, f)
	}
	cmd := exec.CommandContext(ctx, "shellcheck", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), dir+"/", "")
}

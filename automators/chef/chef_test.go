package chef_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/resource"
	"muster/app/template"
	"muster/automators/automatortest"
	"muster/automators/chef"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// resources are what tests push, unpacked as on a node.
func resources(t testing.TB) string {
	t.Helper()
	set := t.TempDir()
	fill(t, set)
	return set
}

func fill(t testing.TB, set string) {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]string{"books": "cookbooks", "web": "roles/web"} {
		if err := os.Symlink(filepath.Join(dir, place), filepath.Join(set, name)); err != nil {
			t.Fatal(err)
		}
	}
}

var refs = []template.ResourceRef{{Type: "cookbooks", Name: "books", Format: resource.FormatArchive}, {Type: "roles", Name: "web", Format: resource.FormatFile}}

// The suite, with the stand-in for Chef: see standin_test.go.
func TestConformanceWithAStandIn(t *testing.T) {
	own := func(name string) string {
		return `{"web": {"file": "{home}/` + name + `", "motd": "hello"}}`
	}
	automatortest.Run(t, automatortest.Member{
		New:      func() family.Automator { return chef.New() },
		OK:       map[string]string{"run_list": "recipe[web::default], role[web]", "json_attributes": own("motd")},
		OKSays:   "n1.c1.example.org",
		Fail:     map[string]string{"run_list": "recipe[web::fails]"},
		FailSays: []string{"failed with exit code 1", "RuntimeError: the web is not to be had"},
		Slow:     map[string]string{"run_list": "web::slow"},
		SlowSays: "running now",
		Invalid: []automatortest.Invalid{
			{Fields: map[string]string{"run_list": "recipe[web"}, Field: "run_list"},
			{Fields: map[string]string{"run_list": "recipe[web]; rm -rf /"}, Field: "run_list"},
			{Fields: map[string]string{"run_list": "web", "json_attributes": "[1]"}, Field: "json_attributes"},
			{Fields: map[string]string{"run_list": "web", "json_attributes": `{"a": `}, Field: "json_attributes"},
		},
		Env: []string{"PATH=" + placeStandIn(t, "chef-solo") + ":$PATH"},
		Resources: func(t testing.TB, dir string) []template.ResourceRef {
			fill(t, dir)
			return refs
		},
		Changes:    map[string]string{"run_list": "web", "json_attributes": own("new")},
		ChangesSay: []string{"/new]: Would update content in file "},
		Facts:      map[string]string{"run_list": "web::finds", "json_attributes": `{"web": {"found": "port=8080\nplace={home}/there\n"}}`},
		WantFacts:  map[string]string{"port": "8080", "place": "{home}/there"},
	})
}

// onNode is a node that finds the stand-in under a name.
func onNode(t *testing.T, name string) (*remotetest.Server, family.Shell) {
	t.Helper()
	s := remotetest.Start(t, remotetest.Options{Env: []string{"PATH=" + placeStandIn(t, name) + ":$PATH"}})
	sh, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sh.Close() })
	return s, sh
}

func call(t testing.TB, file, runList string) family.ServiceCall {
	return family.ServiceCall{
		NodeContext: family.NodeContext{Tenant: "acme", Cluster: "c1", Node: "n1", Hostname: "n1.example.org", Owner: "ada"},
		Service:     "web", Action: app.ActionConfigure, Resources: resources(t), Refs: refs, Services: []string{"base", "web"},
		Peers: []family.HostEntry{{Address: "10.0.0.1", Names: []string{"n1.example.org", "n1"}, Services: []string{"base", "web"}},
			{Address: "10.0.0.2", Names: []string{"n2.example.org", "n2"}, Services: []string{"base"}}},
		Config: map[string]any{"web": map[string]any{"motd": "configured", "port": 80}, "secret": automatortest.Secret},
		Fields: map[string]string{"run_list": runList, "json_attributes": `{"web": {"file": "` + file + `", "port": 8080}, "coopr": {"node": {"services": {"apache2": "start"}}}}`},
	}
}

// The fake Chef passes recipes what Coopr passed them.
func TestStandInReceivesCooprAttributes(t *testing.T) {
	_, sh := onNode(t, "chef-solo")
	file := filepath.Join(t.TempDir(), "facts")
	if err := chef.New().Run(t.Context(), sh, call(t, file, "recipe[coopr_service_manager::default],recipe[coopr_base],web::tells"), nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cluster struct {
			Nodes map[string]struct {
				Hostname    string
				IPAddresses map[string]string
				Services    []string
			}
			Web map[string]any
		}
		Services              []string
		Hostname, ClusterID   string
		IPAddresses           map[string]string
		Node                  struct{ Services map[string]string }
		ThereIsNoSuchAttribut string
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Hostname != "n1.example.org" || got.ClusterID != "c1" || got.IPAddresses["access_v4"] != "10.0.0.1" || !slices.Equal(got.Services, []string{"base", "web"}) ||
		got.Node.Services["apache2"] != "start" || got.Cluster.Web["port"] != 8080.0 || got.Cluster.Web["motd"] != "configured" ||
		len(got.Cluster.Nodes) != 2 || got.Cluster.Nodes["n2"].IPAddresses["bind_v4"] != "10.0.0.2" {
		t.Errorf("got %s", b)
	}
}

// Data bags in each form that people pack them in, and roles as JSON and as Ruby, reach the stand-in for Chef with their contents.
func TestDataBagsAndRolesReachTheStandIn(t *testing.T) {
	const ada, role = `{"id": "ada", "shell": "/bin/zsh"}`, `
# Roles in Ruby are what most people have.
name 'shells'
description 'Who works here'
default_attributes 'web' => { 'file' => 'never taken', 'motd' => 'of the role' }
run_list 'recipe[web::bags]', 'role[deeper]'
`
	deeper := map[string]string{"deeper": `{"name": "deeper", "default_attributes": {"web": {"lost": "of the deeper role"}}, "run_list": ["web::default"]}`}
	for form, files := range map[string]map[string]string{
		"a folder for each":          {"bags/people/ada.json": ada, "bags/people/bob.json": `{"id": "bob"}`, "bags/others/x.json": `{"id": "x"}`},
		"a folder data_bags":         {"bags/data_bags/people/ada.json": ada},
		"the items of one":           {"people/ada.json": ada},
		"two archives":               {"others/x.json": `{"id": "x"}`, "bags/people/ada.json": ada},
		"a role named as its file":   {"people/ada.json": ada, "shells.rb": role},
		"a role in JSON as its file": {"people/ada.json": ada, "shells.json": `{"name": "shells", "default_attributes": {"web": {"motd": "of the role"}}, "run_list": ["recipe[web::bags]", "role[deeper]"]}`},
	} {
		t.Run(form, func(t *testing.T) {
			_, sh := onNode(t, "chef-solo")
			dir := t.TempDir()
			c := call(t, filepath.Join(dir, "motd"), "role[shells]")
			c.Config = map[string]any{"web": map[string]any{"shell": filepath.Join(dir, "shell")}}
			c.Refs = []template.ResourceRef{{Type: "cookbooks", Name: "books", Format: resource.FormatArchive}}
			put := func(name, text string, kind string) {
				t.Helper()
				file := filepath.Join(c.Resources, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o444); err != nil {
					t.Fatal(err)
				}
				top, _, _ := strings.Cut(name, "/")
				if !slices.ContainsFunc(c.Refs, func(r template.ResourceRef) bool { return r.Name == top }) {
					c.Refs = append(c.Refs, template.ResourceRef{Type: kind, Name: top})
				}
			}
			own := false
			for name, text := range files {
				if kind := "roles"; strings.HasPrefix(name, "shells") {
					own = true
					put(name, text, kind)
				} else {
					put(name, text, "data_bags")
				}
			}
			if !own {
				put("shells", role, "roles")
			}
			for name, text := range deeper {
				put(name, text, "roles")
			}
			if err := chef.New().Run(t.Context(), sh, c, nil); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{"shell": "/bin/zsh", "motd": "of the role"} {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
					t.Errorf("%s is %q, %v; want %q", name, b, err, want)
				}
			}
		})
	}
	_, sh := onNode(t, "chef-solo")
	c := call(t, "/dev/null", "web::bags")
	c.Config = map[string]any{"web": map[string]any{"shell": "/dev/null"}}
	if err := chef.New().Run(t.Context(), sh, c, nil); app.CodeOf(err) != app.EScript || !strings.Contains(app.AsError(err).Message, "data bag people is not there") {
		t.Errorf("without the bag: %v", err)
	}
}

func TestDryRunWithAStandInChangesNothing(t *testing.T) {
	_, sh := onNode(t, "cinc-client") // which needs a flag to run locally
	file := filepath.Join(t.TempDir(), "motd")
	c := call(t, file, "web")
	found, err := chef.New().DryRun(t.Context(), sh, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Texts) != 1 || found.Texts[0] != "file["+file+"]: Would update content in file "+file+" from aaaaaa to bbbbbb" {
		t.Errorf("it would change %q", found.Texts)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written")
	}
	if err := chef.New().Run(t.Context(), sh, c, nil); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(file); string(b) != "configured" {
		t.Errorf("the file has %q", b)
	}
	if found, err := chef.New().DryRun(t.Context(), sh, c, nil); err != nil || len(found.Texts) != 0 {
		t.Errorf("afterwards it would change %q, %v", found.Texts, err)
	}
}

// The stand-in refuses what Chef refuses, and why is the error's last words. Nothing of it stays.
func TestStandInRefuses(t *testing.T) {
	s, sh := onNode(t, "chef-solo")
	for runList, want := range map[string]string{
		"recipe[nothing]":     "Cookbook nothing not found",
		"recipe[web::nosuch]": "could not find recipe nosuch for cookbook web",
		"role[nosuch]":        "Role 'nosuch' could not be found",
		"web::fails":          "RuntimeError: the web is not to be had",
	} {
		err := chef.New().Run(t.Context(), sh, call(t, "/dev/null", runList), nil)
		if app.CodeOf(err) != app.EScript || !strings.Contains(app.AsError(err).Message, want) {
			t.Errorf("%s: got %v, want %q", runList, err, want)
		}
	}
	for _, pattern := range []string{".run/*", ".chef/failed-run-data.json"} {
		if left, _ := filepath.Glob(filepath.Join(s.State, pattern)); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

func TestNoChef(t *testing.T) {
	empty := t.TempDir()
	for _, tool := range []string{"sh", "cat", "mkdir", "rm", "ln", "head"} {
		if err := os.Symlink(filepath.Join("/bin", tool), filepath.Join(empty, tool)); err != nil {
			t.Fatal(err)
		}
	}
	// Who is not root installs nothing, on the machine that tests this least of all.
	if err := os.WriteFile(filepath.Join(empty, "id"), []byte("#!/bin/sh\necho 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := remotetest.Start(t, remotetest.Options{Env: []string{"PATH=" + empty}})
	sh, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	for says, err := range map[string]error{
		"neither Chef": chef.New().Run(t.Context(), sh, call(t, "/dev/null", "web"), nil),
		"for Chef: Chef is not installed, and installing it requires root": chef.New().Bootstrap(t.Context(), sh, family.NodeContext{Node: "n1"}, nil),
	} {
		if e := app.AsError(err); e.Code != app.EScript || !strings.Contains(e.Message, says) || !strings.Contains(e.Hint, "--chef-package") {
			t.Errorf("%s: got %+v", says, e)
		}
	}
}

func TestParsePackage(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	if p, err := chef.ParsePackage("https://example.com/cinc.deb?x=1#sha256=" + sum); err != nil || p.URL != "https://example.com/cinc.deb?x=1" || p.SHA256 != sum {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"", "cinc.deb", "http://example.com/a.deb#sha256=" + sum, "https://example.com/a.sh#sha256=" + sum, "https://example.com/a.deb", "https://u:p@example.com/a.deb#sha256=" + sum} {
		if _, err := chef.ParsePackage(bad); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

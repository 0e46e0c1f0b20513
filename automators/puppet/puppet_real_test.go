//go:build real

package puppet_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/automators/automatortest"
	"muster/automators/puppet"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func needed(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Fatal("puppet is not here: see deploy/ci/setup.sh")
	}
}

// resources are a module motd, and a directory of modules with one.
func resources(t testing.TB, dir string) []template.ResourceRef {
	for name, text := range map[string]string{
		"acme-motd/manifests/init.pp": `class motd (String $text = 'none', String $path = '/nowhere') {
  file { $path: content => epp('motd/motd.epp', { 'text' => $text }), mode => '0640' }
}
`,
		"acme-motd/templates/motd.epp": "<%- | String $text | -%>\n<%= $text %>\n",
		"more/said/manifests/init.pp":  "class said { notify { \"said ${lookup('from_data')}\": } }\n",
		"base/common.yaml":             "from_data: by common\n",
		"base/nodes/n1.yaml":           "from_data: by node\n",
		"site.pp":                      "notify { 'from a file': }\n",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []template.ResourceRef{{Type: "module", Name: "acme-motd"}, {Type: "modules", Name: "more"}, {Type: "data", Name: "base"}, {Type: "manifest", Name: "site.pp"}}
}

func TestConformance(t *testing.T) {
	needed(t)
	automatortest.Run(t, automatortest.Member{
		New:    func() family.Automator { return puppet.New() },
		Slowly: true,
		OK: map[string]string{"manifest": `notify { "hello from ${facts['muster']['service']} on ${facts['muster']['node']} of ${facts['muster']['peers'].length}": }
if lookup('db.password') == '' { fail('no password') }
file { '{home}/secret-length': content => "${lookup('db::password').length}\n" }
include said`},
		OKSays:   "hello from web on n1 of 2",
		Fail:     map[string]string{"manifest": "file { '{home}/before': ensure => file }\nexec { 'wrong': command => '/bin/sh -c \"echo what was wrong >&2; exit 3\"', require => File['{home}/before'] }\n"},
		FailSays: []string{"failed with exit code", "a resource failed", "Exec[wrong]: change from 'notrun' to ['0'] failed", "returned 3"},
		Slow: map[string]string{"manifest": `notify { 'running now': } -> exec { '/bin/sleep 600': timeout => 0 }
file { '{home}/slow': content => String(lookup('db.password').length) }`},
		SlowSays:   "running now",
		Resources:  resources,
		Changes:    map[string]string{"manifest": "class { 'motd': path => '{home}/motd', text => \"it has ${lookup('db.password').length}\" } ~> exec { '/bin/echo again': refreshonly => true }\nnotify { 'x': }\nfile { $facts['muster']['outputs']: content => \"a=1\\n\" }"},
		ChangesSay: []string{"/motd]: ensure from absent to file", "Exec[/bin/echo again]: refresh"},
		Facts: map[string]string{"classes": "said", "manifest": `file { $facts['muster']['outputs']: content => stdlib_free() }
function stdlib_free() { "leader=${facts['muster']['node']}\nport=8080\n" }`},
		WantFacts: map[string]string{"leader": "n1", "port": "8080"},
		Invalid: []automatortest.Invalid{
			{Fields: nil, Field: "manifest"},
			{Fields: map[string]string{"manifest": "a\x00b"}, Field: "manifest"},
			{Fields: map[string]string{"manifest": "notify { 'a': }", "manifest_file": "site.pp"}, Field: "manifest_file"},
			{Fields: map[string]string{"manifest_file": "../site.pp"}, Field: "manifest_file"},
			{Fields: map[string]string{"manifest_file": "site/../../x"}, Field: "manifest_file"},
			{Fields: map[string]string{"manifest_file": "site.pp", "classes": "said"}, Field: "classes"},
			{Fields: map[string]string{"classes": "Said"}, Field: "classes"},
			{Fields: map[string]string{"classes": "said", "modules": "../x"}, Field: "modules"},
			{Fields: map[string]string{"classes": "said", "tags": "a,b"}, Field: "tags"},
			{Fields: map[string]string{"classes": "said", "version": "new"}, Field: "version"},
		},
	})
}

// What a manifest finds: parameters of classes from the configuration, data of resources below it, texts that Hiera would otherwise replace parts of, a
// manifest from a file, and the words for what went wrong.
func TestRuns(t *testing.T) {
	needed(t)
	n := remotetest.OpenSSH(t)
	sh, err := remote.Dial(t.Context(), n.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	dir := t.TempDir()
	refs := resources(t, dir)
	run := func(fields map[string]string) (string, error) {
		var lines []string
		heard := make(chan string, 1000)
		err := puppet.New().Run(context.WithoutCancel(t.Context()), sh, family.ServiceCall{
			NodeContext: family.NodeContext{Cluster: "c1", Node: "n1", Hostname: "n1.c1.example.org"}, Service: "web", Action: app.ActionConfigure, Fields: fields,
			Config: map[string]any{"motd": map[string]any{"text": "100%{facts.os} it's \"$x\"", "path": n.Home + "/motd"}}, Resources: dir, Refs: refs,
		}, func(s app.Stream, line string) { heard <- line })
		close(heard)
		for l := range heard {
			lines = append(lines, l)
		}
		return strings.Join(lines, "\n"), err
	}
	said, err := run(map[string]string{"classes": "motd said", "manifest": "node 'n1.c1.example.org' { notify { 'a node': } }"})
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{"said by node", "a node", "changes applied"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
	if b, err := os.ReadFile(n.Home + "/motd"); string(b) != "100%{facts.os} it's \"$x\"\n" {
		t.Errorf("%q, %v", b, err)
	}
	if said, err = run(map[string]string{"manifest_file": "site.pp", "tags": "nothing", "version": "5.5"}); err != nil || !strings.Contains(said, "no changes") {
		t.Errorf("%v\n%s", err, said)
	}
	for name, tc := range map[string]struct {
		fields map[string]string
		says   string
	}{
		"no catalog": {map[string]string{"manifest": "include nowhere"}, "exit code 1 (the catalog failed to compile or apply): Evaluation Error"},
		"no file":    {map[string]string{"manifest_file": "none.pp"}, "The action's resources don't contain the file none.pp"},
		"too old":    {map[string]string{"manifest": "notify {'a':}", "version": "99.1"}, "requires at least 99.1"},
	} {
		if said, err := run(tc.fields); app.CodeOf(err) != app.EScript || !strings.Contains(app.AsError(err).Message, tc.says) {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(n.State, ".run", "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	entries, _ := os.ReadDir(n.Home)
	if names := func() (s []string) {
		for _, e := range entries {
			s = append(s, e.Name())
		}
		return s
	}(); !slices.Equal(names, []string{"motd"}) {
		t.Errorf("in the home lies %q", names)
	}
}

//go:build real

package ansible_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/automators/ansible"
	"muster/automators/automatortest"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func needed(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Fatal("ansible-playbook is not here: see deploy/ci/setup.sh")
	}
}

// resources are a role, a directory of roles, a collection, a project with a playbook and a role beside it, and a playbook.
func resources(t testing.TB, dir string) []template.ResourceRef {
	for name, text := range map[string]string{
		"motd/tasks/main.yml":                       "- name: write the message\n  template: {src: motd.j2, dest: \"{{ motd.path }}\", mode: '0640'}\n  notify: notified\n",
		"motd/templates/motd.j2":                    "{{ motd.text }}\n",
		"motd/handlers/main.yml":                    "- name: notified\n  command: /bin/true\n",
		"more/said/tasks/main.yml":                  "- debug: {msg: \"said by {{ who }}\"}\n",
		"more/said/defaults/main.yml":               "who: a default\n",
		"acme.site/galaxy.yml":                      "namespace: acme\nname: site\nversion: 1.0.0\n",
		"acme.site/roles/inc/tasks/main.yml":        "- debug: {msg: from a collection}\n",
		"site/playbooks/web.yml":                    "- hosts: web\n  gather_facts: false\n  roles: [local]\n",
		"site/playbooks/roles/local/tasks/main.yml": "- debug: {msg: \"beside the playbook on {{ inventory_hostname }} with {{ groups.db | join }} at {{ hostvars.n2.ansible_host }}\"}\n",
		"one.yml": "- {hosts: all, gather_facts: false, tasks: [{debug: {msg: from a file}}]}\n",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []template.ResourceRef{{Type: "role", Name: "motd"}, {Type: "roles", Name: "more"}, {Type: "collection", Name: "acme.site"}, {Type: "project", Name: "site"}, {Type: "playbook", Name: "one.yml"}}
}

const head = "- hosts: all\n  gather_facts: false\n  tasks:\n"

func TestConformance(t *testing.T) {
	needed(t)
	automatortest.Run(t, automatortest.Member{
		New:    func() family.Automator { return ansible.New() },
		Slowly: true,
		OK: map[string]string{"playbook": head + `  - debug: {msg: "hello from {{ muster.service }} on {{ inventory_hostname }} of {{ muster.peers | length }}"}
  - assert: {that: db.password == muster.config.db.password}
  - copy: {dest: "{home}/length", content: "{{ db.password | length }}"}
  - shell: {cmd: "cat >/dev/null", stdin: "{{ db.password }}"}
    no_log: true
`},
		OKSays:     "hello from web on n1 of 2",
		Fail:       map[string]string{"playbook": head + "  - name: go wrong\n    shell: echo what was wrong >&2; exit 3\n"},
		FailSays:   []string{"failed with exit code 2 (a task failed): go wrong (shell)", "what was wrong"},
		Slow:       map[string]string{"playbook": head + "  - debug: {msg: running now}\n  - shell: {cmd: sleep 600, stdin: \"{{ db.password }}\"}\n"},
		SlowSays:   "running now",
		Resources:  resources,
		Changes:    map[string]string{"playbook": "- hosts: all\n  gather_facts: false\n  vars: {motd: {path: '{home}/motd', text: \"it has {{ db.password | length }}\"}}\n  roles: [motd]\n  tasks:\n  - file: {path: \"{home}/{{ item }}\", state: directory}\n    loop: [x, y]\n  - set_stats: {data: {a: 1}}\n"},
		ChangesSay: []string{"motd : write the message (template): ", "/x", "/y"},
		Facts:      map[string]string{"playbook": head + "  - set_stats: {data: {leader: \"{{ inventory_hostname }}\", port: 8080}}\n  - set_stats: {data: {own: [a, b]}, per_host: true}\n"},
		WantFacts:  map[string]string{"leader": "n1", "port": "8080", "own": `["a","b"]`},
		Invalid: []automatortest.Invalid{
			{Fields: nil, Field: "playbook"},
			{Fields: map[string]string{"playbook": "a\x00b"}, Field: "playbook"},
			{Fields: map[string]string{"playbook": head, "playbook_file": "one.yml"}, Field: "playbook_file"},
			{Fields: map[string]string{"playbook_file": "../one.yml"}, Field: "playbook_file"},
			{Fields: map[string]string{"playbook_file": "one.yml", "roles": "said"}, Field: "roles"},
			{Fields: map[string]string{"roles": "a/b"}, Field: "roles"},
			{Fields: map[string]string{"roles": "said", "tags": "a,b"}, Field: "tags"},
			{Fields: map[string]string{"roles": "said", "skip_tags": "a,b"}, Field: "skip_tags"},
			{Fields: map[string]string{"roles": "said", "version": "new"}, Field: "version"},
		},
	})
}

// What a playbook finds: texts that look like templates as they are, roles and collections of resources, the other nodes in groups; and the words for
// what went wrong.
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
	const text = "{{ 1 + 1 }} {% x %} it's \"$x\" \\ é 😀 \u0085\u007f"
	run := func(fields map[string]string) (string, error) {
		heard := make(chan string, 1000)
		err := ansible.New().Run(t.Context(), sh, family.ServiceCall{
			NodeContext: family.NodeContext{Cluster: "c1", Node: "n1", Hostname: "n1.c1.example.org"}, Service: "web", Action: app.ActionConfigure, Fields: fields,
			Config:    map[string]any{"motd": map[string]any{"text": text, "path": n.Home + "/motd"}, "odd-name": 1, "ratio": 1e-7, "count": 12345678901},
			Resources: dir, Refs: refs, Services: []string{"web"},
			Peers: []family.HostEntry{{Address: "10.0.0.1", Names: []string{"n1.c1.example.org", "n1"}, Services: []string{"web"}},
				{Address: "10.0.0.2", Names: []string{"n2.c1.example.org", "n2"}, Services: []string{"db"}}},
		}, func(s app.Stream, line string) { heard <- line })
		close(heard)
		var lines []string
		for l := range heard {
			lines = append(lines, l)
		}
		return strings.Join(lines, "\n"), err
	}
	runOutput, err := run(map[string]string{"roles": "motd said acme.site.inc", "version": "2.9"})
	if err != nil {
		t.Fatalf("%v\n%s", err, runOutput)
	}
	for _, want := range []string{"said by a default", "from a collection", `"odd-name" in the configuration cannot be`} {
		if !strings.Contains(runOutput, want) {
			t.Errorf("%q is not said:\n%s", want, runOutput)
		}
	}
	if b, err := os.ReadFile(n.Home + "/motd"); string(b) != text+"\n" {
		t.Errorf("%q, %v", b, err)
	}
	if runOutput, err = run(map[string]string{"playbook_file": "site/playbooks/web.yml"}); err != nil || !strings.Contains(runOutput, "beside the playbook on n1 with n2 at 10.0.0.2") {
		t.Errorf("%v\n%s", err, runOutput)
	}
	for name, tc := range map[string]struct {
		fields map[string]string
		says   string
	}{
		"no playbook": {map[string]string{"playbook": "x: ["}, "exit code 4 (the playbook is invalid or the node is unreachable)"},
		"no file":     {map[string]string{"playbook_file": "none.yml"}, "The action's resources don't contain the file none.yml"},
		"too old":     {map[string]string{"playbook_file": "one.yml", "version": "99.1"}, "requires at least 99.1"},
		"secret": {map[string]string{"playbook": head + "  - name: hidden\n    command: {argv: [sh, -c, exit 1]}\n    no_log: true\n"},
			"exit code 2 (a task failed): hidden (command): the output has been hidden"},
		"a loop": {map[string]string{"playbook": head + "  - assert: {that: [ratio < 0.001, count == 12345678901, \"muster.config['odd-name'] == 1\", muster_state is directory]}\n" +
			"  - command: id -un\n    become: true\n    become_user: games\n    register: who\n  - assert: {that: who.stdout == 'games'}\n  - name: many\n    command: sh -c 'echo bad {{ item }} >&2; exit {{ item }}'\n    loop: [0, 4]\n"},
			"exit code 2 (a task failed): many (command): bad 4"},
	} {
		if runOutput, err := run(tc.fields); app.CodeOf(err) != app.EScript || !strings.Contains(app.AsError(err).Message, tc.says) {
			t.Errorf("%s: %v\n%s", name, err, runOutput)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(n.State, ".run", "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	entries, err := os.ReadDir(n.Home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "motd" {
			t.Errorf("in the home lies %s", e.Name())
		}
	}
	if found, _ := exec.Command("find", dir, "-name", "*.pyc").Output(); len(found) > 0 {
		t.Errorf("in the resources lies %s", found)
	}
}

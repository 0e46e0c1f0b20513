package ansible

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

func call(fields map[string]string) family.ServiceCall {
	return family.ServiceCall{
		NodeContext: family.NodeContext{Tenant: "acme", Cluster: "c1", Node: "n1", Hostname: "n1.c1.example.org", Owner: "ada"}, Operation: 7, Step: "start web@n1",
		Service: "web", Action: app.ActionStart, Fields: fields, Resources: "/r", Services: []string{"load-balancer", "web"},
		Refs: []template.ResourceRef{{Type: "role", Name: "motd"}, {Type: "roles", Name: "all"}, {Type: "collection", Name: "acme.site"}},
		Peers: []family.HostEntry{{Address: "10.0.0.2", Names: []string{"n2.c1.example.org", "n2"}, Services: []string{"db", "web"}}, {Address: "10.0.0.1", Names: []string{"n1.c1.example.org", "n1"}},
			{Address: "10.0.0.3"}},
	}
}

func TestInventory(t *testing.T) {
	want := `{"all":{"children":{"db":{"hosts":{"n2":{}}},"load_balancer":{"hosts":{"n1":{}}},"web":{"hosts":{"n1":{},"n2":{}}}},` +
		`"hosts":{"n1":{"ansible_connection":"local","ansible_host":"10.0.0.1","ansible_python_interpreter":"{{ ansible_playbook_python }}","muster_hostname":"n1.c1.example.org"},` +
		`"n2":{"ansible_host":"10.0.0.2","muster_hostname":"n2.c1.example.org"}}}}`
	if got := inventory(call(nil)); got != want {
		t.Errorf("%s", got)
	}
	if got := inventory(family.ServiceCall{NodeContext: family.NodeContext{Node: "n1"}}); !strings.Contains(got, `"ansible_connection":"local"`) {
		t.Errorf("a node without peers: %s", got)
	}
}

func TestWrite(t *testing.T) {
	for want, v := range map[string]any{
		`{"a": [1, 1.0e+21, 1.5e-7, true, null], "b{{": !unsafe "{{ x }}"}`: map[string]any{"a": []any{json.Number("1"), json.Number("1e21"), json.Number("1.5E-7"), true, nil}, "b{{": "{{ x }}"},
		`"it's \"x\" \\ \n\x09\x85\u20ac\U0001f600"`:                        "it's \"x\" \\ \n\t\u0085€😀",
		`!unsafe "{% if %}"`: "{% if %}",
		`[]`:                 []any{},
	} {
		var b strings.Builder
		if write(&b, v); b.String() != want {
			t.Errorf("%s, want %s", b.String(), want)
		}
	}
}

func TestScript(t *testing.T) {
	c := call(map[string]string{"roles": "motd acme.site.web", "tags": "a b", "skip_tags": "c", "version": "2.14"})
	c.Config = map[string]any{"it's": "\"$x\" `y` \\", "web": map[string]any{"port": 80}, "muster": 1}
	one, warnings, err := Ansible{}.script(c, false)
	if err != nil || len(warnings) != 2 {
		t.Fatal(warnings, err)
	}
	c.Tell = func(map[string]string) {}
	for range 5 {
		if again, _, _ := (Ansible{}).script(c, false); again != one {
			t.Fatal("another text")
		}
	}
	dry, _, err := Ansible{}.script(c, true)
	if err != nil || !strings.Contains(dry, "--check") || strings.Contains(one, "--check") || strings.Contains(dry, ".facts") {
		t.Error(err)
	}
	for _, s := range []string{one, dry} {
		cmd := exec.Command("sh", "-n")
		cmd.Stdin = strings.NewReader(s)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, want := range []string{`ln -s /r/motd "${muster_dir}roles/"motd`, "muster_roles=$muster_roles:/r/all", `ln -s /r/acme.site "${muster_dir}"collections/ansible_collections/acme/site`,
		"--limit n1", "--tags a,b", "--skip-tags c", `  - "acme.site.web"`} {
		if !strings.Contains(one, want) {
			t.Errorf("%s is not there", want)
		}
	}
	c.Refs = append(c.Refs, template.ResourceRef{Type: "collection", Name: "posix"})
	if _, _, err := (Ansible{}).script(c, false); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
	c = call(map[string]string{"roles": "a"})
	if c.Service = "a/b"; true {
		if _, _, err := (Ansible{}).script(c, false); app.CodeOf(err) != app.EInvalid {
			t.Error(err)
		}
	}
}

func TestRunOutput(t *testing.T) {
	c := family.ServiceCall{Service: "web", Action: app.ActionInstall}
	for name, tc := range map[string]struct {
		lines []string
		exit  int
		want  string
	}{
		"a task": {[]string{`muster-ansible-failed {"task": "rescued", "action": "copy", "msg": "x"}`, `muster-ansible-failed {"task": "web : go", "action": "ansible.builtin.shell", "msg": "bad\nworse"}`},
			2, "web install failed with exit code 2 (a task failed): web : go (shell): bad"},
		"without a name": {[]string{`muster-ansible-failed {"task": "shell", "action": "shell"}`}, 2, "web install failed with exit code 2 (a task failed): shell"},
		"a bad playbook": {[]string{"ERROR! We were unable to read", "", "^ here"}, 4, "web install failed with exit code 4 (the playbook is invalid or the node is unreachable): We were unable to read"},
		"silence":        {nil, 77, "web install failed with exit code 77."},
	} {
		var s runOutput
		for _, l := range tc.lines {
			if s.hear(family.StreamErr, l) != strings.HasPrefix(l, markFailed) {
				t.Errorf("%s: %s is for someone else", name, l)
			}
		}
		if got := s.err(c, tc.exit); got.Message != tc.want || got.Code != app.EScript {
			t.Errorf("%s: %q, want %q", name, got.Message, tc.want)
		}
	}

	var s runOutput
	for _, l := range []string{"before", markChanged, `{"subject": "/etc/motd", "task": "write", "action": "copy"}`, "", `{"task": "reload", "action": "reload"}`, `{"task": "cu`} {
		s.hear(family.StreamOut, l)
	}
	if got := s.changes(); !slices.Equal(got.Texts, []string{"write (copy): /etc/motd", "reload"}) || got.More != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzRunOutput(f *testing.F) {
	f.Add(`{"task": "write", "action": "a.b.copy", "subject": "/x", "msg": "m"}`)
	f.Add("{\"task\": null}\n\n{")
	f.Fuzz(func(t *testing.T, text string) {
		var s runOutput
		for l := range strings.SplitSeq(text, "\n") {
			s.hear(family.StreamErr, markFailed+l)
			s.hear(family.StreamErr, l)
		}
		if s.err(family.ServiceCall{}, 2).Message == "" {
			t.Fatal("no message")
		}
		if got := changesOf(strings.Split(text, "\n")); len(got.Texts) > family.MostChanges {
			t.Fatal(len(got.Texts))
		}
	})
}

// Whatever the configuration, what is written is of ASCII, in one line, and no template is left unmarked.
func FuzzVariables(f *testing.F) {
	f.Add([]byte(`{"a":{"b":["{{x}}",{"{%":1e5}]},"é":"😀"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var config map[string]any
		if json.Unmarshal(b, &config) != nil {
			return
		}
		text, _, err := variables(family.ServiceCall{Config: config})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []byte(text) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q", text)
			}
		}
		if strings.Contains(text, `: "{{`) || strings.Contains(text, `[ "{{`) || strings.Contains(text, `: "{%`) {
			t.Fatalf("%q", text)
		}
	})
}

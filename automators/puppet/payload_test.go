package puppet

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

func call(fields map[string]string) family.ServiceCall {
	return family.ServiceCall{
		NodeContext: family.NodeContext{Tenant: "acme", Cluster: "c1", Node: "n1", Hostname: "n1.c1.example.org", Owner: "ada"}, Operation: 7, Step: "start web@n1",
		Service: "web", Action: app.ActionStart, Fields: fields, Resources: "/r",
		Refs: []template.ResourceRef{{Type: "module", Name: "puppetlabs-stdlib"}, {Type: "modules", Name: "all"}, {Type: "data", Name: "base"}},
	}
}

func TestHieraData(t *testing.T) {
	whole, classes, err := hieraData(map[string]any{"web": map[string]any{"port": 80, "Odd": 1, "tls": map[string]any{"on": true}}, "a%{b": "100%{c}", "big": 12345678901234567})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a%{b":"100%{literal('%')}{c}","big":12345678901234567,"web":{"Odd":1,"port":80,"tls":{"on":true}}}`; whole != want {
		t.Errorf("%s", whole)
	}
	if want := `{"web::port":80,"web::tls":{"on":true},"web::tls::on":true}`; classes != want {
		t.Errorf("%s", classes)
	}
	if whole, classes, err = hieraData(nil); whole != "{}" || classes != "{}" || err != nil {
		t.Error(whole, classes, err)
	}
	if _, _, err = hieraData(map[string]any{"a": func() {}}); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
}

// The same call returns the same text, which sh can read, and which says nothing about who listens.
func TestScript(t *testing.T) {
	c := call(map[string]string{"classes": "web it_s", "manifest": "notify { 'it''s': }", "tags": "a b", "version": "6.24"})
	c.Config = map[string]any{"it's": "\"$x\" `y` \\"}
	one, err := Puppet{}.script(c, false)
	if err != nil {
		t.Fatal(err)
	}
	c.Tell = func(map[string]string) {}
	for range 5 {
		if again, _ := (Puppet{}).script(c, false); again != one {
			t.Fatal("another text")
		}
	}
	dry, err := Puppet{}.script(c, true)
	if err != nil || !strings.Contains(dry, "--noop") || strings.Contains(one, "--noop") {
		t.Error(err)
	}
	for _, s := range []string{one, dry} {
		cmd := exec.Command("sh", "-n")
		cmd.Stdin = strings.NewReader(s)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, s)
		}
	}
	for _, want := range []string{`ln -s /r/puppetlabs-stdlib "${muster_dir}modules/"stdlib`, "muster_path=$muster_path:/r/all", "include web\ninclude it_s\n", "--tags a,b"} {
		if !strings.Contains(one, want) {
			t.Errorf("%s is not there", want)
		}
	}
}

func TestModules(t *testing.T) {
	c := call(map[string]string{"classes": "web", "modules": "none"})
	if _, err := (Puppet{}).script(c, false); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "modules" {
		t.Errorf("%v", err)
	}
	c = call(map[string]string{"classes": "web"})
	c.Refs = append(c.Refs, template.ResourceRef{Type: "module", Name: "other-stdlib"})
	if _, err := (Puppet{}).script(c, false); app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), "stdlib") {
		t.Errorf("%v", err)
	}
	c = call(map[string]string{"classes": "web", "modules": "/opt/modules"})
	if s, err := (Puppet{}).script(c, false); err != nil || !strings.Contains(s, "muster_path=$muster_path:/opt/modules") || strings.Contains(s, "/r/all") {
		t.Errorf("%v", err)
	}
	c = call(map[string]string{"classes": "web"})
	c.Service = "../x"
	if _, err := (Puppet{}).script(c, false); app.CodeOf(err) != app.EInvalid {
		t.Errorf("%v", err)
	}
}

// Whatever the configuration, Hiera gets JSON, and nothing in it that it would replace.
func FuzzHieraData(f *testing.F) {
	f.Add([]byte(`{"a":{"b":["%{x}",{"%{y}":1}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var config map[string]any
		if json.Unmarshal(b, &config) != nil {
			return
		}
		whole, classes, err := hieraData(config)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{whole, classes} {
			if !json.Valid([]byte(s)) {
				t.Fatalf("%s", s)
			}
		}
		for _, part := range strings.Split(classes, "%{")[1:] {
			if !strings.HasPrefix(part, "literal('%')}{") {
				t.Fatalf("%s", classes)
			}
		}
	})
}

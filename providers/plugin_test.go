package providers

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

func TestPlug(t *testing.T) {
	t.Cleanup(func() { plugged = newHost() })
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	program := func(name, says string) string {
		path := filepath.Join(dir, "muster-provider-"+name)
		// It answers describe, refuses every setting, and reads on until its input ends.
		text := "#!/bin/sh\nread -r line; echo '" + says + "'\nread -r line && echo '{\"id\":2,\"error\":{\"code\":\"credentials\",\"message\":\"Access denied.\"}}'\nwhile read -r line; do :; done\n"
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := program("lab", `{"id":1,"result":{"protocol":1,"name":"lab","description":"a lab","fields":[{"name":"url","required":true}],"flavor_fields":[{"name":"disk"}],"powers":["sleep"],"rate":{"per_second":3,"burst":4}}}`)
	program("docker", `{"id":1,"result":{"protocol":1,"name":"docker","description":"another"}}`)
	program("liar", `{"id":1,"result":{"protocol":1,"name":"lab","description":"another"}}`)
	for again := range 2 {
		found, err := Plug(t.Context(), dir, nil, slog.New(slog.DiscardHandler))
		if err != nil || len(found) != 3 {
			t.Fatalf("%+v, %v", found, err)
		}
		for i, want := range []string{"already", "", "calls itself"} {
			if again > 0 && want == "" {
				want = "already"
			}
			if err := found[i].Err; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", found[i].Name, err, want)
			}
		}
	}
	if !IsPlugged("lab", path) || IsPlugged("lab", "/elsewhere") || IsPlugged("docker", filepath.Join(dir, "muster-provider-docker")) {
		t.Error("what is plugged in is not known")
	}
	if names := Names(); !slices.Contains(names, "lab") || !slices.IsSorted(names) {
		t.Errorf("%v", names)
	}
	spec := template.ProviderSpec{About: template.About{Name: "here"}, Type: "lab", Settings: map[string]any{"url": "u"}}
	if err := Check(spec); err != nil {
		t.Error(err)
	}
	if err := Check(template.ProviderSpec{Type: "lab"}); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "settings.url" {
		t.Errorf("%v", err)
	}
	if !Sleeps("lab") || Firewalls("lab") || RateOf(spec) != (template.Rate{PerSecond: 3, Burst: 4}) || CheckExtra("lab", false, map[string]string{"dusk": "1"}) == nil {
		t.Error("it is not what it says")
	}
	p, err := Open(t.Context(), spec, Env{Installation: "i"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.(family.ProviderCloser).Close()
	if _, can := family.PowerOf[family.Sleeper](p); !can {
		t.Error("it cannot sleep")
	}
	if _, can := family.PowerOf[family.AccountChecker](p); can {
		t.Error("it can look, which it does not say")
	}
	found, err := p.(family.AccountChecker).CheckAccount(t.Context(), family.AccountNeeds{}) // the guard lists instead
	if err != nil || len(found) != 1 || found[0].About != family.AboutCredentials || !strings.Contains(found[0].Message, "Access denied") {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := Plug(t.Context(), filepath.Join(dir, "none"), nil, slog.New(slog.DiscardHandler)); app.CodeOf(err) != app.EInvalid {
		t.Errorf("%v", err)
	}
}

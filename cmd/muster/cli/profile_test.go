package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
)

func TestProfilesCount(t *testing.T) {
	dir := home(t)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteClientSettings(data, ClientSettings{URL: "http://left", Token: "left"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MUSTER_HOME", filepath.Join(dir, "config"))
	t.Setenv("MUSTER_DATA", "")
	t.Setenv("XDG_DATA_HOME", "")
	err := ChangeProfiles(func(all *Profiles) error {
		if err := all.Set("prod", Profile{Server: "http://prod", Token: "prod", Tenant: "blue"}); err != nil {
			return err
		}
		return all.Set("lab", Profile{Server: "http://lab", Token: "lab"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name           string
		cli            Context
		env            map[string]string
		wantURL, wantT string
	}{
		{"the one in use", Context{}, nil, "http://prod", "prod"},
		{"one that is named", Context{ProfileName: "lab"}, nil, "http://lab", "lab"},
		{"one that the environment names", Context{}, map[string]string{"MUSTER_PROFILE": "lab"}, "http://lab", "lab"},
		{"the environment goes before the one in use", Context{}, map[string]string{"MUSTER_SERVER": "http://env", "MUSTER_TOKEN": "env"}, "http://env", "env"},
		{"a named one goes before the environment", Context{ProfileName: "lab"}, map[string]string{"MUSTER_URL": "http://env", "MUSTER_TOKEN": "env"}, "http://lab", "lab"},
		{"flags go before all", Context{Server: "http://flag", Token: "flag", ProfileName: "lab"}, nil, "http://flag", "flag"},
		{"its token goes to no other server", Context{Server: "http://flag"}, nil, "http://flag", ""},
		{"a token of one's own", Context{}, map[string]string{"MUSTER_TOKEN": "env"}, "http://prod", "env"},
		{"a data directory that is named", Context{Data: data}, nil, "http://left", "left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			got, err := tt.cli.settings()
			if err != nil || got.URL != tt.wantURL || got.Token != tt.wantT {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	if _, err := (&Context{ProfileName: "nope"}).settings(); app.CodeOf(err) != app.ENotFound {
		t.Errorf("an unknown profile returns %v", err)
	}
}

func TestBadProfiles(t *testing.T) {
	for text, want := range map[string]string{
		"current: [":                               "f:1: ",
		"profiles:\n  a:\n    sever: http://x\n":   "f:3: unknown field",
		"profiles:\n  a: 5\n":                      "f:2: must be a map of keys and values, not a number",
		"current: b\n":                             `f: current is "b"`,
		"profiles:\n  a:\n":                        `profile "a" is empty`,
		"profiles:\n  a:\n    server: nowhere\n":   "isn't a valid server URL",
		"profiles:\n  a: secret-token\n":           "f:2: ",
		strings.Repeat("#", profileLimit+1) + "\n": "longer than",
	} {
		_, err := parseProfiles("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-token") {
			t.Errorf("%.40q returns %v, want %s", text, err, want)
		}
	}
}

func FuzzProfiles(f *testing.F) {
	f.Add([]byte("current: a\nprofiles:\n  a: {server: 'http://x', token: t}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseProfiles("f", b)
		if err == nil && all.Current != "" && all.Profiles[all.Current] == nil {
			t.Error("it is in use and not there")
		}
	})
}

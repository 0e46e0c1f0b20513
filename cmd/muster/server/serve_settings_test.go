package server

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"muster/app/fleet"
	"muster/cmd/muster/cli"
)

// TestSettingsHoldNoSecret returns a server secrets at every place where it takes one, and looks for them in what it tells.
func TestSettingsHoldNoSecret(t *testing.T) {
	env := map[string]string{"DATABASE_URL": "postgres://muster:hunter2@db.example/muster?password=hunter2", "REDIS_URL": "rediss://:hunter2@redis.example:6379/0"}
	for _, e := range Environment {
		if e.Secret {
			env[e.Name] = "hunter2"
		}
	}
	env["MUSTER_PUBLIC_URL"] = "https://muster.example"
	cmd := ServeCommand(&cli.Context{})
	if err := cmd.ParseFlags([]string{"--workers", "3", "--hooks-proxy", "http://me:hunter2@proxy.example:3128"}); err != nil {
		t.Fatal(err)
	}
	all := settingsOf(cmd, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hunter2") {
		t.Errorf("a secret is exposed: %s", b)
	}
	by := map[string]fleet.Setting{}
	for _, s := range all {
		if _, twice := by[s.Name]; twice || s.About == "" {
			t.Errorf("%s is there twice, or says nothing: %+v", s.Name, s)
		}
		by[s.Name] = s
	}
	for name, want := range map[string]fleet.Setting{
		"--workers":         {Value: "3", From: "flag", Default: "16", Set: true},
		"--tenant-slots":    {Value: "0", From: "default", Default: "0"},
		"--hooks-proxy":     {Value: "http://…@proxy.example:3128", From: "flag", Set: true},
		"--public-url":      {From: "environment, MUSTER_PUBLIC_URL"},
		"DATABASE_URL":      {Value: "postgres://…@db.example/muster?…", From: "environment", Set: true},
		"REDIS_URL":         {Value: "rediss://…@redis.example:6379/0", From: "environment", Set: true},
		"MUSTER_SECRET_KEY": {Secret: true, From: "environment", Set: true},
		"SLACK_CLIENT_ID":   {From: "default"},
	} {
		got := by[name]
		if got.Name == "" || got.Value != want.Value || got.From != want.From || got.Default != want.Default || got.Set != want.Set || got.Secret != want.Secret {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestEnvironmentAndFlagsAgree: the help of a flag names its variable, as in "(default $MUSTER_TRUSTED_PROXIES)", and Environment lists both.
func TestEnvironmentAndFlagsAgree(t *testing.T) {
	listed := map[string]string{} // variable by flag
	for _, e := range Environment {
		if e.Flag != "" {
			listed[e.Flag] = e.Name
		}
	}
	ServeCommand(&cli.Context{}).Flags().VisitAll(func(f *pflag.Flag) {
		named := ""
		if m := regexp.MustCompile(`\(default \$([A-Z_]+)`).FindStringSubmatch(f.Usage); m != nil {
			named = m[1]
		}
		if listed[f.Name] != named {
			t.Errorf("--%s: its help says (default $%s), but Environment in serve_settings.go lists %q for it", f.Name, named, listed[f.Name])
		}
	})
}

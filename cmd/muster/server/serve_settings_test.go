package server

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// A flag with bounds has a row: the last valid value, the first invalid one, and what is said about that.
func TestFlagsHaveBounds(t *testing.T) {
	for _, c := range []struct{ flag, valid, invalid, message string }{
		{"--listen", ":8080", "8080", "--listen: "},
		{"--workers", "1000", "1001", "--workers must be from 0 to 1000"},
		{"--workers", "0", "-1", "--workers must be from 0 to 1000"},
		{"--api-rate", "0", "-1", "--api-rate can't be negative"},
		{"--tenant-slots", "0", "-1", "--tenant-slots can't be negative"},
		{"--tls", "self", "on", "--tls must be self or off"},
		{"--lease-grace", "1m", "59s", "--lease-grace must be at least 1m"},
		{"--events-days", "36500", "36501", "--events-days must be from 0 to 36500"},
		{"--logs-days", "0", "-1", "--logs-days must be from 0 to 36500"},
		{"--resource-cache", "1MiB", "1023KiB", "--resource-cache must be at least 1MiB"},
	} {
		check := func(value string) error {
			var f ServeFlags
			cmd := &cobra.Command{}
			f.Declare(cmd)
			if err := cmd.ParseFlags([]string{c.flag + "=" + value}); err != nil {
				t.Fatal(err)
			}
			return f.check()
		}
		if err := check(c.valid); err != nil {
			t.Errorf("%s %s: %v", c.flag, c.valid, err)
		}
		if err := check(c.invalid); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s %s: %v, want %q", c.flag, c.invalid, err, c.message)
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

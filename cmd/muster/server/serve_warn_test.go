package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"muster/app/fleet"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func TestCurrencyIsChecked(t *testing.T) {
	for value, want := range map[string]string{
		"": "USD", " ": "USD", "EUR": "EUR", " CHF ": "CHF", "JPY": "JPY",
		"dollars": "", "usd": "", "$": "", "US": "", "ABC": "", "XXX": "", "EUR,USD": "", "1": "", "€": "",
	} {
		t.Setenv("MUSTER_CURRENCY", value)
		var f ServeFlags
		cmd := &cobra.Command{}
		f.Declare(cmd)
		cmd.SetContext(t.Context())
		if err := cmd.ParseFlags([]string{"--catalog", "../../../examples/catalog"}); err != nil {
			t.Fatal(err)
		}
		config, err := f.Config(cmd, &cli.Context{Data: t.TempDir(), Stderr: io.Discard})
		if want != "" {
			if err != nil || config.Currency != want {
				t.Errorf("%q is taken for %q (%v), want %q", value, config.Currency, err, want)
			}
			continue
		}
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), fmt.Sprintf("MUSTER_CURRENCY: %q isn't a currency.", value)) {
			t.Errorf("of %q it says %v", value, err)
		}
	}
}

// TestAdminPasswordLeavesTheEnvironment reads settings as serve does, and then starts a child.
func TestAdminPasswordLeavesTheEnvironment(t *testing.T) {
	const password = "correct-horse-battery"
	t.Setenv("MUSTER_ADMIN_PASSWORD", password)
	var f ServeFlags
	cmd := &cobra.Command{}
	f.Declare(cmd)
	cmd.SetContext(t.Context())
	if err := cmd.ParseFlags([]string{"--catalog", "../../../examples/catalog"}); err != nil {
		t.Fatal(err)
	}
	config, err := f.Config(cmd, &cli.Context{Data: t.TempDir(), Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if config.Password != password {
		t.Errorf("the password is %q", config.Password)
	}
	if v, set := os.LookupEnv("MUSTER_ADMIN_PASSWORD"); set {
		t.Errorf("the environment still has %q", v)
	}
	if v, set := config.Env("MUSTER_ADMIN_PASSWORD"); set {
		t.Errorf("catalogs can read %q", v)
	}
	out, err := exec.Command("env").Output()
	if err != nil || strings.Contains(string(out), password) {
		t.Errorf("a child gets the password: %v", err)
	}
	if !slices.ContainsFunc(config.Settings, func(s fleet.Setting) bool { return s.Name == "MUSTER_ADMIN_PASSWORD" && s.Set && s.Value == "" }) {
		t.Error("the settings do not say that it was set")
	}
}

// TestServeWarns starts servers that someone should change, and reads what the terminal and the log say.
func TestServeWarns(t *testing.T) {
	const plain, left = "anyone on the network can read passwords and tokens", "MUSTER_ADMIN_PASSWORD is still set"
	data := t.TempDir()
	for _, c := range []struct {
		name   string
		change func(*Config)
		says   []string
		not    []string
	}{
		{"on this host", func(*Config) {}, nil, []string{plain, left}},
		{"for all hosts, and started before", func(c *Config) { c.Listen = "0.0.0.0:0" }, []string{plain, "--tls-cert", left}, nil},
		{"without the password", func(c *Config) { c.Password = "" }, nil, []string{plain, left}},
		{"over TLS", func(c *Config) { c.Listen, c.TLS.Self, c.Password = "0.0.0.0:0", true, "" }, nil, []string{plain}},
	} {
		var log, out bytes.Buffer
		config := Config{Data: data, Listen: "127.0.0.1:0", Catalogs: []string{"../../../examples/catalog"}, Workers: 0, Password: "correct-horse-battery",
			Log: slog.New(slog.NewTextHandler(&cli.LockedWriter{W: &log}, nil)), Env: func(string) (string, bool) { return "", false }}
		c.change(&config)
		s, err := New(t.Context(), config)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		greet(t.Context(), &cli.Context{Stdout: &out}, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{out.String(), log.String()} {
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q is not said:\n%s", c.name, want, text)
				}
			}
			for _, no := range c.not {
				if strings.Contains(text, no) {
					t.Errorf("%s: %q is said:\n%s", c.name, no, text)
				}
			}
		}
	}
}

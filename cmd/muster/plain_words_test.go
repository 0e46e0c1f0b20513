package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/cmd/muster/cli"
)

// goish are words that only make sense to those who wrote the program.
var goish = regexp.MustCompile(`strconv|Go struct|Go value|unmarshal|!!|x509:|(?:^|[^\w.-])(?:json|yaml|time): |net/url|dial tcp|listen tcp|lookup tcp|parsing "|pflag|<nil>|%!`)

// answerTo runs a command line offline and returns its exit code and what it says on stderr.
func answerTo(t testing.TB, args ...string) (int, string) {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(""), &out, &err)
	return code, err.String()
}

// typedFlags are the flags of all commands that take more than a text, by command line.
func typedFlags(c *cobra.Command, each func(c *cobra.Command, f *pflag.Flag)) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if kind := f.Value.Type(); kind != "string" && kind != "stringArray" && kind != "stringSlice" {
			each(c, f)
		}
	})
	for _, sub := range c.Commands() {
		typedFlags(sub, each)
	}
}

// TestInvalidFlagsAreExplained returns every flag that is a number, a duration or a choice what it cannot be.
func TestInvalidFlagsAreExplained(t *testing.T) {
	asked := 0
	typedFlags(rootCommand(&cli.Context{}), func(c *cobra.Command, f *pflag.Flag) {
		for _, value := range []string{"nonsense", "99999999999999999999", "1.5.5", "\x00"} {
			err := f.Value.Set(value)
			if err == nil {
				continue // it takes that
			}
			asked++
			code, said := answerTo(t, append(strings.Fields(c.CommandPath())[1:], "--"+f.Name+"="+value)...)
			if code != cli.ExitUsage || !strings.Contains(said, "--"+f.Name) || goish.MatchString(said) {
				t.Errorf("%s --%s=%q ends with %d: %s", c.CommandPath(), f.Name, value, code, said)
			}
		}
	})
	if asked < 200 {
		t.Errorf("only %d were tried", asked)
	}
}

// FuzzFlags returns every typed flag any text.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{"", "1", "x", "1h", "-1", "1e9", "true", "a=b", "\"", "5 days", "0x", "١"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if goish.MatchString(value) {
			return
		}
		typedFlags(rootCommand(&cli.Context{}), func(c *cobra.Command, fl *pflag.Flag) {
			err := c.Flags().Set(fl.Name, value)
			if err == nil {
				return
			}
			if said := flagError(c, err).Error(); goish.MatchString(said) || !strings.Contains(said, "--"+fl.Name) {
				t.Errorf("%s --%s %q: %s", c.CommandPath(), fl.Name, value, said)
			}
		})
	})
}

func TestCommandLineErrors(t *testing.T) {
	dir := t.TempDir()
	for _, k := range []string{"MUSTER_URL", "MUSTER_SERVER", "MUSTER_TOKEN", "MUSTER_PROFILE", "MUSTER_CATALOG", "DATABASE_URL"} {
		t.Setenv(k, "")
	}
	t.Setenv("MUSTER_DATA", dir)
	t.Setenv("MUSTER_HOME", dir)
	// A server has left its superadmin's token here.
	if err := cli.WriteClientSettings(dir, cli.ClientSettings{URL: "http://127.0.0.1:1", Token: "superadmin"}); err != nil {
		t.Fatal(err)
	}
	catalog := filepath.Join(dir, "catalog")
	if err := os.Mkdir(catalog, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"base.yaml": "kind: service\nname: nginx\n---\nkind: service\nname: broken\nactons: {}\n",
		"web.yaml":  "kind: template\nname: web\nsize: many\ndefaults:\n  services: [nginx]\n",
		"text.txt":  "x",
	} {
		if err := os.WriteFile(filepath.Join(catalog, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		says []string
	}{
		{"clustre list", cli.ExitUsage, []string{`unknown command "clustre"`, "Did you mean `muster cluster`?"}},
		{"create demo -t web -n 3", cli.ExitUsage, []string{`unknown command "create"`, "Did you mean `muster cluster create`?"}},
		{"why demo", cli.ExitUsage, []string{`unknown command "why"`, "Did you mean `muster cluster why`?"}},
		{"delete demo", cli.ExitUsage, []string{"Did you mean `muster cluster delete`?"}},
		{"lint", cli.ExitUsage, []string{"Did you mean `muster catalog lint`?"}},
		{"-t web", cli.ExitUsage, []string{"unknown flag -t"}},
		{"help clustre", cli.ExitUsage, []string{`unknown command "clustre"`, "Did you mean `muster cluster`?"}},
		{"help cluster lst", cli.ExitUsage, []string{`unknown command "lst" for "muster cluster"`, "Did you mean `muster cluster list`?"}},
		{"help cluster list", cli.ExitDone, nil},
		{"help", cli.ExitDone, nil},
		{"cluster list --token=", cli.ExitUsage, []string{"--token is empty", "Set a value, or omit the flag."}},
		{"cluster list --server=", cli.ExitUsage, []string{"--server is empty"}},
		{"cluster list --tenant=", cli.ExitUsage, []string{"--tenant is empty"}},
		{"user list --token=", cli.ExitUsage, []string{"--token is empty"}},
		{"cluster create web --size=big", cli.ExitUsage, []string{`--size: "big" isn't a whole number`}},
		{"cluster list --server=http://127.0.0.1:1 --token=x", cli.ExitFailed, []string{"127.0.0.1:1", "connection refused"}},
		{"serve --listen=nonsense", cli.ExitUsage, []string{"--listen: nonsense has no port: use HOST:PORT", "127.0.0.1:8080"}},
		{"serve --listen=127.0.0.1", cli.ExitUsage, []string{"--listen: 127.0.0.1 has no port"}},
		{"serve --listen=127.0.0.1:", cli.ExitUsage, []string{"has no port"}},
		{"serve --listen=127.0.0.1:x", cli.ExitUsage, []string{"x isn't a port"}},
		{"serve --listen=::1:80", cli.ExitUsage, []string{"too many colons", "[::1]:8080"}},
		{"serve --listen=http://127.0.0.1:80", cli.ExitUsage, []string{"--listen: "}},
		{"catalog lint " + filepath.Join(catalog, "text.txt"), cli.ExitUsage, []string{"text.txt isn't a catalog file"}},
		{"catalog lint " + filepath.Join(catalog, "none.yaml"), cli.ExitUsage, []string{"none.yaml"}},
	} {
		code, said := answerTo(t, strings.Fields(c.args)...)
		if code != c.code || goish.MatchString(said) || slices.ContainsFunc(c.says, func(s string) bool { return !strings.Contains(said, s) }) {
			t.Errorf("muster %s ends with %d: %s", c.args, code, said)
		}
		if strings.Contains(c.args, "--listen") && strings.Contains(said, "another server") {
			t.Errorf("muster %s asks for another server: %s", c.args, said)
		}
	}
	// Of one file the others are read, and nothing is said of them.
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"catalog", "lint", filepath.Join(catalog, "web.yaml")}, nil, &out, &errs)
	if said := out.String(); code != cli.ExitFailed || !strings.Contains(said, "web.yaml:3:") || strings.Contains(said, "base.yaml") || strings.Contains(said, "nginx") || !strings.Contains(said, "0 providers, 0 hardware types, 0 image types, 0 services, 1 template: ") {
		t.Errorf("lint of a file ends with %d: %s%s", code, said, errs.String())
	}
}

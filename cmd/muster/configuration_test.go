package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

var writeConfiguration = flag.Bool("write-configuration", false, "regenerate docs/configuration.md")

const configurationFile = "../../docs/configuration.md"

const (
	beginConfiguration = "<!-- Made by: go test ./cmd/muster -run TestConfigurationIsWrittenDown -write-configuration -->\n"
	endConfiguration   = "<!-- end of configuration -->\n"
)

// environmentOfOthers are variables that other commands read.
var environmentOfOthers = []struct{ name, who, about string }{
	{server.TokenEnv, "provisioner", "Registration token, unless `--token-file` is set."},
	{"MUSTER_URL", "provisioner, clients", "URL of the server. Clients also accept `MUSTER_SERVER`."},
	{"MUSTER_CA_FINGERPRINT", "provisioner, doctor, clients", "CA fingerprint (`sha256:…`) of a server with `--tls self`."},
	{"REDIS_URL", "provisioner", "Redis of the servers; without it, workers poll the server for work."},
	{"MUSTER_DATA", "all", "Data directory, unless `--data` is set."},
	{"MUSTER_TOKEN", "clients", "API token."},
	{"MUSTER_PROFILE", "clients", "Profile to use; see [cli.md](cli.md)."},
	{"MUSTER_HOME", "clients", "Directory for profiles and cluster keys."},
	{"PGPASSWORD, PGPASSFILE, PGSSLMODE …", "serve, doctor, backup, restore, migrate, secrets", "PostgreSQL's own variables, for anything missing in `DATABASE_URL`."},
	{"AWS_…, GOOGLE_APPLICATION_CREDENTIALS, AZURE_…, VAULT_SERVER_URL, VAULT_SERVER_TOKEN", "serve", "Credentials of key services and blob stores, as their own tools read them."},
	{"OTEL_…", "serve, provisioner", "OpenTelemetry's own variables for headers, certificates, batches and sampling."},
}

func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ") }

// configurationText is the generated part of the document.
func configurationText() string {
	var b strings.Builder
	root := rootCommand(&cli.Context{})
	for _, name := range []string{"serve", "provisioner", "doctor", "backup", "restore", "migrate up"} {
		cmd, _, err := root.Find(strings.Fields(name))
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "\n## muster %s\n\n%s.\n\n| flag | default | |\n|---|---|---|\n", name, cmd.Short)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || name == "doctor" && inherited(root, f.Name) {
				return
			}
			value, about := pflag.UnquoteUsage(f)
			def := f.DefValue
			if def == "[]" || def == "" || def == "0s" {
				def = ""
			} else {
				def = "`" + def + "`"
			}
			if value != "" {
				value = " " + strings.ToUpper(strings.ReplaceAll(value, " ", "_"))
			}
			fmt.Fprintf(&b, "| `--%s%s` | %s | %s |\n", f.Name, value, def, cell(about))
		})
		if name == "doctor" {
			b.WriteString("\nAnd all flags of `muster serve`.\n")
		}
	}
	b.WriteString("\n## Environment of servers\n\nFlags take precedence over environment variables. Secrets are never shown, neither in the portal nor by `muster server settings`.\n\n| variable | flag | |\n|---|---|---|\n")
	for _, e := range server.Environment {
		flag := ""
		if e.Flag != "" {
			flag = "`--" + e.Flag + "`"
		}
		about := e.About
		if e.Secret {
			about += " Secret."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, flag, cell(about))
	}
	b.WriteString("\n## Other variables\n\n| variable | read by | |\n|---|---|---|\n")
	for _, e := range environmentOfOthers {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.name, e.who, cell(e.about))
	}
	b.WriteString("\n")
	return b.String()
}

// inherited tells a flag of serve, which the doctor has too.
func inherited(root *cobra.Command, name string) bool {
	serve, _, _ := root.Find([]string{"serve"})
	return serve.Flags().Lookup(name) != nil
}

// Every flag and every variable is documented as in the code.
func TestConfigurationIsWrittenDown(t *testing.T) {
	b, err := os.ReadFile(configurationFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(b), beginConfiguration)
	written, after, ended := strings.Cut(rest, endConfiguration)
	if !begun || !ended {
		t.Fatalf("%s has lost the marks of what is made from the code", configurationFile)
	}
	if *writeConfiguration {
		if err := os.WriteFile(configurationFile, []byte(before+beginConfiguration+configurationText()+endConfiguration+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != configurationText() {
		t.Errorf("%s is not as the code is: go test ./cmd/muster -run TestConfigurationIsWrittenDown -write-configuration", configurationFile)
	}
}

package offline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/cmd/muster/cli"
)

const pricedCatalog = `kind: hardware
name: small
providers: {here: {flavor: s, cost_per_hour: 0.25}}
---
kind: image
name: host
providers: {here: {image: host}}
---
kind: service
name: hello
actions: {start: "true"}
---
kind: template
name: hello
defaults: {provider: here, services: [hello]}
---
kind: provider
name: here
type: fake
`

func TestSolveNamesTheCurrency(t *testing.T) {
	for _, c := range []struct{ provider, installation, want string }{
		{"", "", "hello: 4 nodes on here, $1.00 per hour"},
		{"", "CHF", "hello: 4 nodes on here, CHF 1.00 per hour"},
		{"currency: EUR\nexchange_rate: 2\n", "", "hello: 4 nodes on here, €1.00 per hour"},
		{"currency: EUR\nexchange_rate: 2\n", "USD", "hello: 4 nodes on here, $2.00 per hour"},
		{"currency: EUR\nexchange_rate: 2\n---\nkind: provider\nname: there\ntype: fake\n", "", "hello: 4 nodes on here, $2.00 per hour"},
		{"", "dollars", `MUSTER_CURRENCY: "dollars" isn't a currency.`},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(pricedCatalog+c.provider), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MUSTER_CURRENCY", c.installation)
		var out bytes.Buffer
		cmd := SolveCommand(&cli.Context{Stdout: &out, Stderr: &out})
		cmd.SetArgs([]string{"--catalog", dir, "--template", "hello", "--size", "4"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		said := ""
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			said = err.Error()
		}
		if said += out.String(); !strings.HasPrefix(said, c.want) {
			t.Errorf("with %q and MUSTER_CURRENCY=%q: %s, want %s", c.provider, c.installation, said, c.want)
		}
	}
}

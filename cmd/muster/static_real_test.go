//go:build real && linux

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"muster/app"
	"muster/providers/providertest"
	"muster/providers/sandbox"
)

const rackCatalog = `
kind: provider
name: rack
type: static
settings:
  ssh_key: ${env:RACK_KEY}
  wipe: rm -f /srv/kept
  machines: |
%s
---
kind: hardware
name: small
providers: {rack: {flavor: small, cpu: 2, cost_per_hour: 0.1}}
---
kind: hardware
name: big
providers: {rack: {flavor: big, cpu: 8, cost_per_hour: 0.4}}
---
kind: image
name: host
providers: {rack: {image: installed}}
---
kind: service
name: keeper
actions:
  start: hostname >/srv/kept
---
kind: template
name: kept
defaults: {provider: rack, services: [keeper], hardware: small, image: host}
constraints: {size: {max: 3}}
fallback_hardware: {small: [big]}
`

// TestRealStaticMachinesMakeAPartialCluster begins with three machines that stand, one small and two big: a cluster of small ones
// takes the small one and then the others, and all of them are free and wiped when it has gone.
func TestRealStaticMachinesMakeAPartialCluster(t *testing.T) {
	t.Parallel()
	rack, err := sandbox.Open(t.Context(), "rack", nil, sandbox.Env{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rack.Close() })
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	dial := map[string]func() *ssh.Client{}
	for _, name := range []string{"small1", "big1", "big2"} {
		s, keys := providertest.Harness{Flavor: "small", Image: sandbox.HostImage}.Spec(t, "rack-"+name)
		s.AuthorizedKey = providertest.AuthorizedKey(admin.PublicKey())
		m, err := rack.Create(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := rack.Delete(context.WithoutCancel(t.Context()), m.ID); err != nil {
				t.Errorf("delete %s: %v", m.ID, err)
			}
		})
		keys.Client = admin
		dial[m.Addresses[app.AddressAccess]] = func() *ssh.Client { return providertest.Dial(t, m, keys) }
		_ = dial[m.Addresses[app.AddressAccess]]().Close() // it has come up
		fmt.Fprintf(&lines, "    %s %s port=%d flavor=%s host_key=%q\n", name, m.Addresses[app.AddressAccess], max(m.SSHPort, 22), strings.TrimRight(name, "12"), m.HostKey)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rack.yaml"), fmt.Appendf(nil, rackCatalog, strings.TrimRight(lines.String(), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{dir}, env: []string{"RACK_KEY=" + string(pem.EncodeToMemory(block))}}
	t.Cleanup(p.tidy)
	p.start()

	v := p.made("web", "kept", 3)
	is := map[string]int{}
	for _, n := range v.Nodes {
		is[n.Hardware+" for "+n.AskedHardware()]++
		if got := p.on(v, n, "cat /srv/kept"); got != n.Hostname {
			t.Errorf("%s keeps %q, want its own name, %s", n.Name, got, n.Hostname)
		}
	}
	if is["small for small"] != 1 || is["big for small"] != 2 {
		t.Errorf("the nodes are of %v", is)
	}
	if got := fmt.Sprintf("%.2f", v.CostPerHour); got != "0.90" {
		t.Errorf("it costs %s an hour, want 0.90", got)
	}
	p.goes(v, 3)
	for address, dial := range dial {
		c := dial()
		session, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		out, err := session.CombinedOutput("ls -A /srv; cat /var/lib/muster/checkout/record 2>/dev/null; grep -c muster-checkout ~/.ssh/authorized_keys")
		if strings.TrimSpace(string(out)) != "0" {
			t.Errorf("%s was given back with %q on it (%v)", address, out, err)
		}
		_ = c.Close()
	}
}

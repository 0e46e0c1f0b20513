//go:build real && linux

package static

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"muster/app/family"
	"muster/providers/providertest"
	"muster/providers/sandbox"
)

// TestRealMachines holds the member to the suite with machines that have files, a host name and an OpenSSH server of their own: those of the sandbox.
func TestRealMachines(t *testing.T) {
	rack, err := sandbox.Open(t.Context(), "rack", nil, sandbox.Env{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rack.Close() })
	if mode, why := rack.Mode(); mode != sandbox.ModeNamespaces {
		if os.Getenv("CI") == "true" {
			t.Fatalf("namespaces machines must work here: %s", why)
		}
		t.Skipf("no namespaces machines here: %s", why)
	}
	admin, pem := newKey(t)
	var lines strings.Builder
	var boxes []family.Machine
	for i := range 8 {
		s, keys := providertest.Harness{Flavor: "small", Image: sandbox.HostImage}.Spec(t, fmt.Sprintf("rack-%d", i))
		s.AuthorizedKey = providertest.AuthorizedKey(admin.PublicKey())
		m, err := rack.Create(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := rack.Delete(background(), m.ID); err != nil {
				t.Errorf("delete %s: %v", m.ID, err)
			}
		})
		keys.Client = admin
		_ = providertest.Dial(t, m, keys).Close() // it has come up
		boxes = append(boxes, m)
		fmt.Fprintf(&lines, "m%d %s port=%d host_key=%q\n", i, m.Addresses["access_v4"], max(m.SSHPort, 22), m.HostKey)
	}
	settings := map[string]any{"machines": lines.String(), "ssh_key": pem, "wipe": "rm -f /root/kept /srv/theirs", "prepare": "touch /srv/theirs"}
	dirs := map[string]string{}
	open := func(t *testing.T) *provider {
		p, err := open(settings, Env{DataDir: dirs[t.Name()]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	providertest.Run(t, providertest.Harness{
		Judge: "real",
		Open: func(t *testing.T) family.Provider {
			dirs[t.Name()] = t.TempDir()
			p := open(t)
			t.Cleanup(func() { empty(t, p) })
			return p
		},
		Reopen: func(t *testing.T) family.Provider { return open(t) },
		Flavor: defaultFlavor, Image: defaultImage, Login: true, OwnHostKeys: true,
	})
	p := open(t)
	for i, m := range p.machines {
		out, _, err := p.run(t.Context(), m, `hostname; cat /etc/hostname; grep -c . "$k"; ls -A "$d"; ls -A /srv`+"\n")
		want := fmt.Sprintf("%[1]s\n%[1]s\n1\nhad\nlock\n", boxes[i].Hostname)
		if err != nil || out != want {
			t.Errorf("%s keeps %q (%v), want %q", m.name, out, err, want)
		}
	}
}

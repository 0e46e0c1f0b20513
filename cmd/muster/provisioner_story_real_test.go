//go:build real && linux

package main

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/cmd/muster/server"
)

// served is the serial number of the certificate that new connections get.
func (w *fleetServer) served() string {
	w.Helper()
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: hangs}, "tcp", strings.TrimPrefix(w.server.URL, "https://"),
		&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it only looks at the certificate
	if err != nil {
		w.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// A new certificate is served as soon as its file has changed, to existing and new provisioners; one that
// cannot be read changes nothing.
func TestRealCertificateIsReadAgainUnderProvisioners(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	w.start("early")
	first, dir := w.served(), filepath.Join(w.server.Data, "tls")
	if err := os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("half a certif"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.until("the broken file is reported", func() bool {
		if w.served() != first {
			t.Fatal("another certificate is served")
		}
		return strings.Contains(w.log.String(), "can't reload the certificate")
	})
	if fingerprint, err := server.SelfSigned(dir, []string{"localhost", "127.0.0.1"}, time.Now()); err != nil || fingerprint != w.server.Fingerprint {
		t.Fatalf("a new certificate of the same CA: %s, %v", fingerprint, err)
	}
	took := w.until("the new certificate is served", func() bool { return w.served() != first })
	t.Logf("the new certificate is served after %s", took.Round(time.Millisecond))
	w.start("late")
	for _, tenant := range []string{app.DefaultTenant, "other"} {
		v := w.create(tenant, "c", 4)
		w.active(tenant, v.ID)
	}
	if w.find("early") == nil || w.find("late") == nil {
		t.Error("a provisioner is gone")
	}
}

// --tenant-slots bounds a tenant on all provisioners together, whatever is free, and leaves the rest to others.
func TestRealTenantSlotsBoundATenant(t *testing.T) {
	const most = 2
	w := newFleetServer(t, "", func(c *server.Config) { c.TenantSlots = most })
	w.start("h1")
	w.start("h2") // 4 slots each
	release := w.hold()
	defer release()
	v := w.create("", "c", 6)
	running := func() (n int) {
		steps, err := w.server.Services.Cluster.Activity.Steps(t.Context(), w.admin(""), v.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.State == app.StepRunning {
				n++
			}
		}
		return n
	}
	w.until("the tenant runs as many steps as allowed", func() bool { return w.lines("begun") == most })
	// While it may have no more, another tenant gets what is free at once.
	other := w.create("other", "c", 4)
	w.until("the other tenant's cluster is active", func() bool {
		if n := running(); n > most {
			t.Fatalf("%d steps of the tenant are running, but the limit is %d", n, most)
		}
		o, err := w.server.Services.Cluster.Views.Cluster(t.Context(), w.admin("other"), other.ID)
		if err != nil {
			t.Fatal(err)
		}
		return o.Status == app.ClusterActive
	})
	release()
	w.active("", v.ID)
}

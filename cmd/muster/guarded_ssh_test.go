package main

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/cmd/muster/server"
	"muster/providers/fake"
)

const guardedYAML = `kind: provider
name: mine
type: fake
settings: {account: ACCOUNT}
---
kind: hardware
name: tiny
providers: {mine: {flavor: small}}
---
kind: image
name: plain
providers: {mine: {image: any}}
---
kind: service
name: idle
actions: {install: "true"}
---
kind: template
name: guarded
compatibility: {services: [idle], hardware: [tiny], images: [plain]}
defaults: {provider: mine, services: [idle], hardware: tiny, image: plain}
`

// A tenant decides where the machines of its own provider are, so SSH reaches them only where tenants may reach: not on the server's host or in its
// networks, by
// address or by name, unless the operator says so.
func TestSSHToATenantsOwnMachinesIsGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		host    string
		allow   string
		trusted bool // saved by a superadmin
		reached bool
	}{
		"an address of the server itself": {host: "127.0.0.1"},
		"a name of this host":             {host: "localhost"},
		"allowed by the operator":         {host: "127.0.0.1", allow: "127.0.0.0/8", reached: true},
		"saved by a superadmin":           {host: "127.0.0.1", trusted: true, reached: true},
	} {
		t.Run(name, func(t *testing.T) {
			var reached atomic.Int64
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					reached.Add(1)
					_ = conn.Close()
				}
			}()
			account := "guarded " + name
			fake.Named(account).Bind(func(family.MachineSpec) fake.Endpoint {
				return fake.Endpoint{Address: c.host, Port: l.Addr().(*net.TCPAddr).Port}
			})
			s := crowdedServer(t, "", func(s *server.Config) {
				s.Workers = 2
				if c.allow != "" {
					s.Hooks.Allow = []netip.Prefix{netip.MustParsePrefix(c.allow)}
				}
			})
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			t.Cleanup(func() { stop(); <-done })
			who := tenantAdmin(here)
			if c.trusted {
				who = superIn(here)
			}
			if r, err := s.Services.Catalog.ApplyCatalog(t.Context(), who, yamlOf(strings.ReplaceAll(guardedYAML, "ACCOUNT", account))); err != nil || !r.Saved {
				t.Fatalf("%+v, %v", r, err)
			}
			const hangs = 5 * time.Minute
			create := func() (cluster.View, error) {
				return s.Services.Cluster.Creates.CreateCluster(t.Context(), tenantAdmin(here), cluster.CreateRequest{Name: "one", Request: layout.Request{Template: "guarded", Size: 1}})
			}
			made, err := create()
			for deadline := time.Now().Add(hangs); err != nil && app.AsError(err).Reason == "no_provisioner" && time.Now().Before(deadline); made, err = create() {
				time.Sleep(20 * time.Millisecond) // the server registers its own workers when it begins to run
			}
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(hangs); ; {
				steps, err := s.Services.Cluster.Activity.Steps(t.Context(), tenantAdmin(here), made.ID, made.Operations[0].ID)
				if err != nil {
					t.Fatal(err)
				}
				said := ""
				for _, step := range steps {
					said += step.Error + "\n"
				}
				if c.reached && reached.Load() > 0 {
					return
				}
				if !c.reached && strings.Contains(said, "Tenants can't connect to") && strings.Contains(said, "--tenant-networks") {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("reached %d times; the steps say %q", reached.Load(), said)
				}
				time.Sleep(20 * time.Millisecond)
			}
			if n := reached.Load(); n > 0 {
				t.Errorf("%d connections reached the host", n)
			}
		})
	}
}

//go:build real

package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/pool"
	"muster/cmd/muster/server"
	"muster/jobs/remote"
)

const poolCatalog = `
kind: provider
name: here
type: sandbox
settings: {mode: namespaces}
---
kind: hardware
name: small
providers: {here: {flavor: small, cost_per_hour: 0.01, cpu: 1}}
---
kind: image
name: host
providers: {here: {image: host, ssh_user: root}}
---
kind: service
name: mark
actions:
  install: {automator: shell, fields: {script: "echo installed >/root/mark"}}
  start: {automator: shell, fields: {script: "cat /root/mark"}}
---
kind: template
name: marks
defaults: {provider: here, services: [mark], hardware: small, image: host}
constraints: {size: {min: 1, max: 9}}
`

// Machines with an OpenSSH and files of their own come from a pool: the key that opened them there does not any more, and they have the names of their
// nodes. The sandbox makes a machine in a fraction of a second, so the test logs both durations and doesn't compare them.
func TestRealMachinesOfTheSandboxComeFromAPool(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Fatal("machines of the sandbox with an address of their own are made by root only")
	}
	dir, err := os.MkdirTemp("", "musterpool") // t.TempDir cannot be removed while mounts go away
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	catalog := filepath.Join(dir, "catalog")
	if err := os.Mkdir(catalog, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(catalog, "pool.yaml"), []byte(poolCatalog), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(context.WithoutCancel(t.Context()), server.Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", Catalogs: []string{catalog},
		Workers: 8, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &poolWalk{T: t, s: s, ada: app.Actor{Tenant: app.DefaultTenant, User: "ada", Role: app.RoleSuperadmin, Via: app.ViaAPI}}
	defer p.tidy()
	for deadline := time.Now().Add(hangs); ; time.Sleep(20 * time.Millisecond) { // until its own provisioner has registered
		_, err := s.Services.Cluster.Creates.Preview(ctx, p.ada, cluster.CreateRequest{Request: layout.Request{Template: "marks", Size: 3}})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	_, without := p.create("first", 3)
	count := 3
	if _, err := s.Services.Pool.Pools.CreatePool(ctx, p.ada, pool.Request{Name: "base", Hardware: "small", Image: "host", Provider: "here", Count: &count}); err != nil {
		t.Fatal(err)
	}
	v := p.full(count)
	old := map[string][]byte{}
	for _, m := range v.Machines {
		k, err := s.Store.ClusterSecrets(ctx, app.DefaultTenant, m.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		old[m.MachineID] = k.PrivateKey
	}
	preview, err := s.Services.Cluster.Creates.Preview(ctx, p.ada, cluster.CreateRequest{Request: layout.Request{Template: "marks", Size: 3}})
	if err != nil || preview.FromPools == nil || preview.FromPools.Machines != 3 {
		t.Fatalf("the preview says %+v (%v)", preview.FromPools, err)
	}
	t.Log(preview.FromPools.Text())
	c, with := p.create("second", 3)
	t.Logf("a creation of 3 takes %s without the pool and %s with it", without.Round(time.Millisecond), with.Round(time.Millisecond))
	own, err := s.Store.ClusterSecrets(ctx, app.DefaultTenant, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		if n.Pool != "base" || old[n.MachineID] == nil {
			t.Errorf("%s was not the pool's: %+v", n.Name, n)
			continue
		}
		at := remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: n.SSHUser, HostKey: n.HostKey, PrivateKey: old[n.MachineID]}
		if conn, err := remote.Dial(ctx, at); err == nil || app.AsError(err).Reason != "auth_refused" {
			t.Errorf("the pool's key is not refused by %s: %v", n.Name, err)
			if err == nil {
				_ = conn.Close()
			}
		}
		at.PrivateKey = own.PrivateKey
		conn, err := remote.Dial(ctx, at)
		if err != nil {
			t.Errorf("the cluster's key does not open %s: %v", n.Name, err)
			continue
		}
		var said []string
		_, err = conn.Run(ctx, family.Command{Line: "uname -n; cat /etc/hostname; getent hosts " + n.Hostname + "; wc -l <.ssh/authorized_keys"}, func(_ app.Stream, line string) { said = append(said, line) })
		_ = conn.Close()
		if len(said) != 4 || said[0] != n.Hostname || said[1] != n.Hostname || !strings.HasPrefix(said[2], n.Address(app.AddressBind)) || strings.TrimSpace(said[3]) != "2" || err != nil {
			t.Errorf("%s says %q (%v)", n.Hostname, said, err)
		}
	}
	reports, err := s.Services.Execution.Health.NodeReports(ctx, p.ada, c.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		for _, check := range r.Checks {
			if !check.OK && check.Name == "hostname" {
				t.Errorf("%+v", check)
			}
		}
	}
}

type poolWalk struct {
	*testing.T
	s   *server.Server
	ada app.Actor
}

// create makes a cluster and returns how long its operation took.
func (p *poolWalk) create(name string, size int) (cluster.View, time.Duration) {
	p.Helper()
	v, err := p.s.Services.Cluster.Creates.CreateCluster(p.Context(), p.ada, cluster.CreateRequest{Name: name, Request: layout.Request{Template: "marks", Size: size}})
	if err != nil {
		p.Fatal(err)
	}
	v = p.ended(v.ID, app.ClusterActive)
	return v, v.Operations[0].EndedAt.Sub(v.Operations[0].CreatedAt)
}

func (p *poolWalk) ended(id string, want app.ClusterStatus) cluster.View {
	p.Helper()
	ctx := context.WithoutCancel(p.Context())
	for deadline := time.Now().Add(hangs); ; time.Sleep(20 * time.Millisecond) {
		v, err := p.s.Services.Cluster.Views.Cluster(ctx, p.ada, id)
		if err != nil {
			p.Fatal(err)
		}
		if v.Status == want {
			return v
		}
		if v.Status == app.ClusterFailed || time.Now().After(deadline) {
			p.Fatalf("%s is %s: %s", id, v.Status, v.Message)
		}
	}
}

func (p *poolWalk) full(count int) pool.View {
	p.Helper()
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		v, err := p.s.Services.Pool.Pools.Pool(p.Context(), p.ada, "base")
		if err != nil {
			p.Fatal(err)
		}
		if v.Ready == count {
			return v
		}
		if time.Now().After(deadline) {
			p.Fatalf("the pool is not full: %+v", v)
		}
	}
}

// tidy returns all machines.
func (p *poolWalk) tidy() {
	ctx := context.WithoutCancel(p.Context())
	if _, err := p.s.Services.Pool.Pools.DeletePool(ctx, p.ada, "base"); err != nil && app.CodeOf(err) != app.ENotFound {
		p.Error(err)
	}
	all, err := p.s.Services.Cluster.Views.Clusters(ctx, p.ada, app.ClusterFilter{})
	if err != nil {
		p.Error(err)
	}
	for _, c := range all {
		if _, err := p.s.Services.Cluster.Deletes.DeleteCluster(ctx, p.ada, c.ID); err != nil {
			p.Error(err)
		}
		p.ended(c.ID, app.ClusterDeleted)
	}
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		r, err := p.s.Services.Pool.Pools.PoolReceipt(ctx, p.ada, "base")
		if app.CodeOf(err) == app.ENotFound || err == nil && r.Remaining == 0 && !r.DeletedAt.IsZero() {
			p.Logf("receipt of the pool: %+v", r)
			return
		}
		if time.Now().After(deadline) {
			p.Errorf("the pool is not gone: %+v (%v)", r, err)
			return
		}
	}
}

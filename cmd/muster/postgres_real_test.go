//go:build real

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/layout"
)

// servers are several servers on one PostgreSQL and one Redis. They share the sandbox's machines, as they would share a cloud.
type servers struct {
	t        *testing.T
	postgres *apptest.Postgres
	shared   string // the providers' state
	servers  []*process
}

const fleetKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func newFleet(t *testing.T, size int) *servers {
	t.Helper()
	redis, _ := realRedis(t)
	p, err := apptest.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Make("muster", ""); err != nil {
		t.Fatal(err)
	}
	f := &servers{t: t, postgres: p, shared: t.TempDir()}
	mode := filepath.Join(t.TempDir(), "mode.yaml")
	if err := os.WriteFile(mode, []byte("kind: provider\nname: sandbox\ntype: sandbox\nsettings: {mode: process}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.tidy)
	for range size {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(f.shared, filepath.Join(data, "providers")); err != nil {
			t.Fatal(err)
		}
		f.servers = append(f.servers, &process{t: t, data: data, catalog: []string{"../../examples/catalog", filepath.Dir(mode)},
			env: []string{"REDIS_URL=" + redis, "DATABASE_URL=" + p.NetworkURL("muster", p.Password), "MUSTER_SECRET_KEY=" + fleetKey}})
	}
	for _, s := range f.servers {
		s.start()
	}
	return f
}

// say is what all servers have said in this run.
func (f *servers) say() string {
	var b strings.Builder
	for i, s := range f.servers {
		fmt.Fprintf(&b, "--- server %d\n%s", i, s.out)
	}
	return b.String()
}

// tidy deletes every cluster through the first server, ends all, and looks for what is left.
func (f *servers) tidy() {
	for _, s := range f.servers {
		if s.cmd == nil {
			s.start()
		}
	}
	if len(f.servers) == 0 {
		return
	}
	cl := f.servers[0].client()
	ctx := context.WithoutCancel(f.t.Context())
	list, err := cl.Clusters.List(ctx, app.ClusterFilter{})
	if err != nil {
		f.t.Error(err)
	}
	for _, c := range list {
		if _, err := cl.Clusters.Delete(ctx, c.ID); err != nil {
			f.t.Error(err)
		}
	}
	for deadline := time.Now().Add(hangs); len(list) > 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if list, err = cl.Clusters.List(ctx, app.ClusterFilter{}); err != nil {
			f.t.Error(err)
			break
		}
	}
	if len(list) > 0 {
		f.t.Errorf("%d clusters are left\n%s", len(list), f.say())
	}
	for _, s := range f.servers {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, s := range f.servers {
		if err := s.cmd.Wait(); err != nil {
			f.t.Errorf("a server did not end well: %v\n%s", err, s.out)
		}
		if strings.Contains(s.out.String(), f.postgres.Password) {
			f.t.Error("a server printed the password of the database")
		}
	}
	if left := f.machines(); len(left) > 0 {
		f.t.Errorf("machines are left: %v", left)
	}
}

func (f *servers) machines() []string {
	machines, _ := filepath.Glob(filepath.Join(f.shared, "*", "nodes", "*"))
	return machines
}

// create requests a cluster from one server. The answer may be lost with it, so the caller checks before retrying.
func (f *servers) create(s *process, name string, size int) {
	f.t.Helper()
	r := cluster.CreateRequest{Name: name, Request: layout.Request{Template: "web", Size: size}}
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		_, err := s.client().Create(f.t.Context(), r)
		if err == nil || app.CodeOf(err) == app.EConflict {
			return
		}
		if code := app.CodeOf(err); code == app.EInvalid || code == app.ENoLayout || time.Now().After(deadline) {
			f.t.Fatalf("%s was not accepted: %v\n%s", name, err, f.say())
		}
	}
}

// active waits until clusters of that many machines stand, by what a server says, and each of their pages is served.
func (f *servers) active(s *process, names []string, machines int) {
	f.t.Helper()
	for _, name := range names {
		v, err := s.client().Clusters.Get(f.t.Context(), name)
		if err != nil {
			f.t.Fatalf("%s: %v\n%s", name, err, f.say())
		}
		if v = s.await(v.ID); v.Status != app.ClusterActive {
			f.t.Fatalf("%s is %s: %s\n%s", name, v.Status, v.Message, f.say())
		}
		s.page(v)
	}
	if made := f.machines(); len(made) != machines {
		f.t.Errorf("%d machines, want %d: %v", len(made), machines, made)
	}
}

func TestRealPostgresServersKilledOneAfterTheOther(t *testing.T) {
	f := newFleet(t, 3)
	var names []string
	for i := range 6 {
		name := fmt.Sprintf("web%d", i)
		names = append(names, name)
		f.create(f.servers[i%2], name, 4)
		victim := f.servers[(i+i/3)%3] // the one that was just asked, too
		time.Sleep(time.Duration(40+60*i) * time.Millisecond)
		victim.kill()
		time.Sleep(time.Duration(30*i) * time.Millisecond)
		victim.start()
	}
	f.active(f.servers[2], names, 6*4)
}

func TestRealPostgresOneServerIsLeft(t *testing.T) {
	f := newFleet(t, 2)
	f.create(f.servers[0], "web", 5)
	f.servers[0].kill() // it was first, so it leads
	began := time.Now()
	f.active(f.servers[1], []string{"web"}, 5)
	t.Logf("the other was done after %s", time.Since(began).Round(100*time.Millisecond))
	// Its workers may be done before the lease of the one that is gone has run out.
	for deadline := time.Now().Add(hangs); !strings.Contains(f.servers[1].out.String(), "this server is now the leader"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no server led\n%s", f.say())
		}
	}
}

// A server that hangs holds up no one for long, and does no harm when it wakes.
func TestRealPostgresServerFrozen(t *testing.T) {
	f := newFleet(t, 2)
	f.create(f.servers[0], "early", 5)
	if err := f.servers[0].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	f.create(f.servers[1], "late", 3)
	f.active(f.servers[1], []string{"early", "late"}, 8)
	if err := f.servers[0].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.create(f.servers[0], "after", 3)
	f.active(f.servers[0], []string{"early", "late", "after"}, 11)
}

func TestRealPostgresRestartedInTheMiddleOfACreate(t *testing.T) {
	f := newFleet(t, 2)
	f.create(f.servers[0], "web", 8)
	for i := range 3 {
		time.Sleep(time.Duration(60+80*i) * time.Millisecond)
		if err := f.postgres.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := f.postgres.Start(); err != nil {
			t.Fatal(err)
		}
	}
	f.active(f.servers[1], []string{"web"}, 8)
}

func TestRealPostgresServerRefusalIsExplained(t *testing.T) {
	f := newFleet(t, 1)
	serve := func(env ...string) string {
		t.Helper()
		cmd := exec.Command("muster", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--catalog", "../../examples/catalog")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%v served", env)
		}
		if strings.Contains(string(out), "t0p-secret") {
			t.Errorf("the password is exposed: %s", out)
		}
		return string(out)
	}
	redis := f.servers[0].env[0]
	for words, env := range map[string][]string{
		"DATABASE_URL requires REDIS_URL":            {f.servers[0].env[1]},
		"This server has no secret key":              {redis, f.servers[0].env[1]},
		"was created with another secret key":        {redis, f.servers[0].env[1], "MUSTER_SECRET_KEY=" + strings.Repeat("ab", 32)},
		"rejected user":                              {redis, "DATABASE_URL=" + f.postgres.NetworkURL("muster", "t0p-secret")},
		"isn't a valid PostgreSQL URL":               {redis, "DATABASE_URL=postgres://u:t0p-secret/x@h:1/d"},
		`Unsupported database kind "mysql"`:          {redis, "DATABASE_URL=mysql://u:t0p-secret@h/d"},
		"PostgreSQL at 127.0.0.1:1 isn't responding": {redis, "DATABASE_URL=postgres://u:t0p-secret@127.0.0.1:1/d"},
	} {
		if out := serve(env...); !strings.Contains(out, words) {
			t.Errorf("want %q:\n%s", words, out)
		}
	}
}

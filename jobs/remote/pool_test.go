package remote_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func newPool(t testing.TB, o remote.PoolOptions) *remote.Pool {
	p := remote.NewPool(o)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func get(t testing.TB, p *remote.Pool, target remote.Target) (family.Shell, func(bool)) {
	t.Helper()
	sh, release, err := p.Get(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return sh, release
}

func TestPoolReuses(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	for range 5 {
		sh, release := get(t, p, s.Target())
		mustRun(t, sh, family.Command{Line: "true"})
		_ = sh.Close() // does nothing
		release(true)
		release(false) // too late to count
	}
	// At the same time too.
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			sh, release, err := p.Get(t.Context(), s.Target())
			if err != nil {
				t.Error(err)
				return
			}
			defer release(true)
			if _, err := sh.Run(t.Context(), family.Command{Line: "true"}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s.Dials() != 1 {
		t.Errorf("%d dials, want 1", s.Dials())
	}
}

func TestPoolDialsOnceForMany(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, release, err := p.Get(t.Context(), s.Target())
			if err != nil {
				t.Error(err)
				return
			}
			release(true)
		})
	}
	all.Wait()
	sh, release := get(t, p, s.Target())
	mustRun(t, sh, family.Command{Line: "true"}) // after this the server has counted
	release(true)
	if s.Dials() != 1 {
		t.Errorf("%d dials, want 1", s.Dials())
	}
}

// Another user, key or host key is another target.
func TestPoolSeparatesTargets(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	_, release := get(t, p, s.Target())
	release(true)

	other, otherPEM := remotetest.NewKey(t)
	target := s.Target()
	target.PrivateKey = otherPEM
	_, _, err := p.Get(t.Context(), target)
	wantCode(t, err, app.ECredentials)
	target = s.Target()
	target.HostKey = remotetest.AuthorizedKey(other)
	_, _, err = p.Get(t.Context(), target)
	wantCode(t, err, app.EHostKey)
	target = s.Target()
	target.User = "else"
	_, _, err = p.Get(t.Context(), target)
	wantCode(t, err, app.ECredentials)
}

func TestPoolUnhealthyAndDead(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	_, release := get(t, p, s.Target())
	release(false)
	sh, release := get(t, p, s.Target())
	mustRun(t, sh, family.Command{Line: "true"})
	release(true)
	if s.Dials() != 2 {
		t.Errorf("%d dials, want 2", s.Dials())
	}
	s.Drop()
	eventually(t, "a new connection is made", func() bool {
		sh, release, err := p.Get(t.Context(), s.Target())
		if err != nil {
			return false
		}
		_, err = sh.Run(t.Context(), family.Command{Line: "true"}, nil)
		release(err == nil)
		return err == nil
	})
	if s.Dials() != 3 {
		t.Errorf("%d dials, want 3", s.Dials())
	}
}

func TestPoolClosesIdleConnections(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{TTL: 50 * time.Millisecond})
	_, release := get(t, p, s.Target())
	release(true)
	eventually(t, "it is let go of", func() bool { return p.Idle() == 0 })
	_, release = get(t, p, s.Target())
	defer release(true)
	if s.Dials() != 2 {
		t.Errorf("%d dials, want 2", s.Dials())
	}
}

func TestPoolKeepsFewIdle(t *testing.T) {
	t.Parallel()
	p := newPool(t, remote.PoolOptions{MaxIdle: 2})
	var servers []*remotetest.Server
	var releases []func(bool)
	for range 4 {
		s := remotetest.Start(t, remotetest.Options{})
		_, release := get(t, p, s.Target())
		servers, releases = append(servers, s), append(releases, release)
	}
	for _, r := range releases {
		r(true)
	}
	if p.Idle() != 2 {
		t.Errorf("%d idle, want 2", p.Idle())
	}
	for i, s := range servers {
		_, release := get(t, p, s.Target())
		defer release(true)
		if want := map[bool]int{true: 2, false: 1}[i < 2]; s.Dials() != want {
			t.Errorf("server %d: %d dials, want %d", i, s.Dials(), want)
		}
	}
}

func TestPoolAdopts(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	open := s.Target()
	open.HostKey = ""
	c, err := remote.Wait(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	p.Adopt(open, c)
	sh, release := get(t, p, s.Target())
	mustRun(t, sh, family.Command{Line: "true"})
	release(true)
	if s.Dials() != 1 {
		t.Errorf("%d dials, want 1", s.Dials())
	}
	// A second one comes in its place: the machine may have been made again.
	later, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	used, letGo := get(t, p, s.Target())
	p.Adopt(s.Target(), later)
	mustRun(t, used, family.Command{Line: "true"}) // users of the old one continue
	letGo(true)
	<-c.Done()
	sh, release = get(t, p, s.Target())
	mustRun(t, sh, family.Command{Line: "true"})
	release(true)
	if s.Dials() != 2 {
		t.Errorf("%d dials, want 2", s.Dials())
	}
}

func TestPoolFirstContact(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	open := s.Target()
	open.HostKey = ""
	for _, target := range []remote.Target{open, s.Target()} {
		_, release := get(t, p, target)
		release(true)
	}
	if s.Dials() != 1 {
		t.Errorf("%d dials, want 1", s.Dials())
	}
}

func TestPoolClose(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := remote.NewPool(remote.PoolOptions{})
	sh, release := get(t, p, s.Target())
	done := make(chan error, 1)
	file := tempFile(&s.Node, "pid")
	go func() {
		_, err := sh.Run(t.Context(), family.Command{Line: "echo $$ >" + file + "; sleep 1000; true"}, nil)
		done <- err
	}()
	eventually(t, "it runs", func() bool { return len(pidsIn(file)) == 1 })
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	wantCode(t, <-done, app.ETransient)
	release(false)
	_, _, err := p.Get(t.Context(), s.Target())
	wantCode(t, err, app.ECancelled)
}

// One caller that gives up does not take the others with it.
func TestPoolOneCallerCancels(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, release, err := p.Get(ctx, s.Target()); err == nil {
				release(false)
			}
		})
		all.Go(func() {
			_, release, err := p.Get(t.Context(), s.Target())
			if err != nil {
				t.Error(err)
				return
			}
			release(false)
		})
		cancel()
		all.Wait()
	}
}

func BenchmarkRun(b *testing.B) {
	for name, target := range map[string]func() remote.Target{
		"in-process": func() remote.Target { return remotetest.Start(b, remotetest.Options{}).Target() },
		"openssh":    func() remote.Target { return remotetest.OpenSSH(b).Target() },
	} {
		b.Run(name, func(b *testing.B) {
			c := dial(b, target())
			for b.Loop() {
				if exit, err := c.Run(b.Context(), family.Command{Line: "true"}, nil); exit != 0 || err != nil {
					b.Fatal(exit, err)
				}
			}
		})
	}
}

func BenchmarkDial(b *testing.B) {
	target := remotetest.Start(b, remotetest.Options{}).Target()
	for b.Loop() {
		c, err := remote.Dial(b.Context(), target)
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
	}
}

func BenchmarkQuote(b *testing.B) {
	s := fmt.Sprint(hostile)
	for b.Loop() {
		humanize.ShellQuote(s)
	}
}

// A connection that was made without a guard is not used where one is to be asked, and what the guard refuses is not tried again.
func TestGuardedTargets(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	p := newPool(t, remote.PoolOptions{})
	_, release := get(t, p, s.Target())
	release(true)
	asked := 0
	guarded := s.Target()
	guarded.Guard = func(_ context.Context, network, address string) (net.Conn, error) {
		asked++
		return nil, app.Errorf(app.EForbidden, "Tenants can't connect to %s over %s.", address, network)
	}
	if _, _, err := p.Get(t.Context(), guarded); app.CodeOf(err) != app.EForbidden || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	if _, err := remote.Wait(t.Context(), guarded); app.CodeOf(err) != app.EForbidden || asked != 2 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	if s.Dials() != 1 {
		t.Errorf("%d dials, want 1", s.Dials())
	}
}

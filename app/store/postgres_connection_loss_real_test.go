//go:build real

package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/app/store"
)

const hangs = 5 * time.Minute // reached only where something hangs

// cable lies between a store and PostgreSQL, and can be cut.
type cable struct {
	t     *testing.T
	to    string
	l     net.Listener
	mu    sync.Mutex
	ends  map[net.Conn]bool
	deaf  bool // what PostgreSQL says is not passed on
	stuck chan struct{}
	wg    sync.WaitGroup
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{t: t, to: to, l: l, ends: map[net.Conn]bool{}}
	c.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.ends[near], c.ends[far] = true, true
			c.mu.Unlock()
			c.wg.Go(func() { c.carry(far, near, false) })
			c.wg.Go(func() { c.carry(near, far, true) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.thaw()
		c.cut()
		c.wg.Wait()
	})
	return c
}

func (c *cable) port() int { return c.l.Addr().(*net.TCPAddr).Port }

func (c *cable) carry(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		c.mu.Lock()
		stuck, deaf := c.stuck, c.deaf && answers
		c.mu.Unlock()
		if stuck != nil {
			<-stuck
		}
		if n > 0 && !deaf {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut ends every connection that there is. New ones are carried.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := range c.ends {
		_ = e.Close()
		delete(c.ends, e)
	}
	c.deaf = false
}

// silence keeps back what PostgreSQL says, until the next cut.
func (c *cable) silence() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = true
}

// freeze carries nothing either way until thaw, and ends nothing: the server behind it hangs.
func (c *cable) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stuck = make(chan struct{})
}

func (c *cable) thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck != nil {
		close(c.stuck)
		c.stuck = nil
	}
}

// throughCable opens a store on a fresh database over a cable.
func throughCable(t *testing.T) (*store.Store, *cable, string) {
	t.Helper()
	p, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	direct := p.Fresh(t, template)
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	c := newCable(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Port)))
	return open(t, p.URLBy(c.port(), strings.TrimPrefix(u.Path, "/"), p.Password)), c, direct
}

// Whenever a connection is lost, even between a commit and its answer, each write happens once: what is acknowledged is
// there, and nothing is there twice.
func TestPostgresConnectionsLostAtRandom(t *testing.T) {
	s, c, _ := throughCable(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var mu sync.Mutex
	numbers := map[int64]bool{}
	for range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				n, err := s.NextClusterNumber(t.Context())
				if err != nil {
					t.Errorf("a caller was notified of it: %v", err)
					return
				}
				mu.Lock()
				if numbers[n] {
					t.Errorf("%d was given twice", n)
				}
				numbers[n] = true
				mu.Unlock()
			}
		})
	}
	written := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(numbers)
	}
	const cuts = 40
	for i := range cuts {
		for before, late := written(), time.Now().Add(hangs); written() < before+8; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatal("nothing is written any more")
			}
		}
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		if i%2 == 0 { // PostgreSQL hears, and no one hears what it says
			c.silence()
			time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
		}
		c.cut()
	}
	stop()
	all.Wait()
	last, err := s.NextClusterNumber(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if int(last) != len(numbers)+1 {
		t.Errorf("%d numbers were given out, and %d counted", len(numbers), last-1)
	}
	t.Logf("%d writes through %d cuts", len(numbers), cuts)
}

// PostgreSQL goes down in the middle of everything and comes back: those who wrote wait, and nothing is lost.
func TestPostgresRestarted(t *testing.T) {
	p, err := apptest.StartPostgres("fsync=on")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := p.Make("muster", ""); err != nil {
		t.Fatal(err)
	}
	s := open(t, p.URL("muster"))
	defer s.Close()
	changed, unwatch := s.Watch(app.ClusterTopic("quiet"))
	defer unwatch()
	var all sync.WaitGroup
	const each = 50
	for w := range 4 {
		all.Go(func() {
			for i := range each {
				u := identity.User{Tenant: "t", Name: fmt.Sprintf("u%d-%d", w, i), Role: app.RoleUser, CreatedAt: time.Now()}
				if err := s.CreateUser(t.Context(), u); err != nil {
					t.Errorf("%s: %v", u.Name, err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for len(changed) > 0 {
		<-changed
	}
	time.Sleep(50 * time.Millisecond)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CountUsers(t.Context()); app.CodeOf(err) != app.ETransient {
		t.Errorf("a read without a database is %v", err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if n, err := s.CountUsers(t.Context()); err != nil || n != 4*each {
		t.Errorf("%d users (%v), want %d", n, err, 4*each)
	}
	select {
	case <-changed:
	case <-time.After(hangs):
		t.Error("who watches was not woken after the connection was lost")
	}
}

// One of two servers leads. When it hangs it stops by its own clock, and the other follows within five seconds.
func TestPostgresLeaderHangs(t *testing.T) {
	one, c, where := throughCable(t)
	type turn struct {
		who   string
		began bool
		at    time.Time
	}
	turns := make(chan turn, 20)
	lead := func(s *store.Store, who string) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() {
			s.Lead(ctx, func(ctx context.Context) {
				turns <- turn{who, true, time.Now()}
				<-ctx.Done()
				turns <- turn{who, false, time.Now()}
			})
		})
		return func() { cancel(); done.Wait() }
	}
	next := func(who string, began bool) turn {
		t.Helper()
		select {
		case got := <-turns:
			if got.who != who || got.began != began {
				t.Fatalf("%s, began: %v; want %s, %v", got.who, got.began, who, began)
			}
			return got
		case <-time.After(hangs):
			t.Fatalf("%s did not come (began: %v)", who, began)
			return turn{}
		}
	}
	defer lead(one, "one")()
	next("one", true)
	two := open(t, where)
	stopTwo := lead(two, "two")
	c.freeze()
	frozen := time.Now()
	ended := next("one", false)
	begun := next("two", true)
	if begun.at.Before(ended.at) {
		t.Error("both led at the same time")
	}
	if took := begun.at.Sub(frozen); took > hangs/2 {
		t.Errorf("the other followed after %s", took)
	}
	c.thaw()
	c.cut()
	stopTwo() // who stops lets go at once
	next("two", false)
	next("one", true) // the first comes back
}

// A server that hangs in the middle of a transaction holds the others up for seconds, not forever.
func TestPostgresServerHangsInAWrite(t *testing.T) {
	one, c, where := throughCable(t)
	two := open(t, where)
	if _, err := two.NextClusterNumber(t.Context()); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan struct{}, 1)
	for range 4 {
		writing.Go(func() {
			for ctx.Err() == nil {
				if _, err := one.NextClusterNumber(t.Context()); err != nil && app.CodeOf(err) != app.ETransient {
					t.Errorf("who writes to the server that hangs is reported %v", err)
				}
				select {
				case wrote <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 20 {
		<-wrote
	}
	c.silence() // so the next transaction begins, and never hears that it may continue
	p, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	for held, late := "", time.Now().Add(hangs); held != "1"; {
		if held, err = p.SQL("postgres", `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE l.locktype = 'advisory' AND l.granted AND a.state = 'idle in transaction'`); err != nil || time.Now().After(late) {
			t.Fatalf("no one holds the lock: %q %v", held, err)
		}
	}
	c.freeze()
	began := time.Now()
	for i := range 3 {
		if _, err := two.NextClusterNumber(t.Context()); err != nil {
			t.Errorf("write %d of the other server: %v", i, err)
		}
	}
	if took := time.Since(began); took > hangs/2 {
		t.Errorf("the other server was held up for %s", took)
	} else {
		t.Logf("held up for %s", took.Round(time.Millisecond))
	}
	c.thaw()
	c.cut()
	stop()
	writing.Wait()
}

package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/family"
	"muster/app/lock"
	"muster/app/sharing"
	"muster/app/terminal"
)

// keys sign certificates that are looked at.
type keys struct {
	harness.Keys
	orders []app.CertificateOrder
}

func (k *keys) SignCertificate(_ []byte, o app.CertificateOrder) (app.SignedCertificate, error) {
	k.orders = append(k.orders, o)
	return app.SignedCertificate{Line: "signed"}, nil
}

// site is a server with a cluster of two nodes, of which n1 has a machine.
type site struct {
	*harness.Harness
	t       *testing.T
	node    *node
	keys    *keys
	cluster string
	ada     app.Actor
}

func newSite(t *testing.T, tmux bool) *site {
	t.Helper()
	s := &site{Harness: harness.New(t), t: t, node: newNode(tmux), keys: &keys{}}
	n := apptest.NewCluster(app.DefaultTenant, "web", 2, s.Clock.Now(), apptest.Chain(2))
	first := &n.Nodes[0].Node
	first.Status, first.SSHUser = app.NodeReady, "ubuntu"
	if _, err := s.Store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s.SQL(`UPDATE nodes SET host_key = 'ssh-ed25519 HOST', addresses = '{"access_v4":"10.0.0.1"}' WHERE name = 'n1'`)
	s.cluster, s.ada = n.Cluster.ID, s.Actor("ada", app.RoleUser)
	s.use(s.Services)
	return s
}

// use connects a server to the node.
func (s *site) use(a *all.Services) {
	a.NodeAccess.SignIn, a.NodeAccess.Keys = s.node.connect, s.keys
	s.t.Cleanup(a.Terminal.Close)
}

func (s *site) open(o terminal.Open) *terminal.Client {
	s.t.Helper()
	c, err := s.try(s.ada, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *site) try(who app.Actor, o terminal.Open) (*terminal.Client, error) {
	if o.Cluster == "" {
		o.Cluster = s.cluster
	}
	if o.Node == "" {
		o.Node = "n1"
	}
	o.Announced = true
	return s.Services.Terminal.OpenTerminal(s.t.Context(), who, o)
}

// reads reads what a client is shown, up to a text.
func (s *site) reads(c *terminal.Client, want string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	got := ""
	for !strings.HasSuffix(got, want) {
		p, err := c.Next(ctx, 1000)
		if err != nil {
			s.t.Fatalf("%q and then %v, want %q", got, err, want)
		}
		got += string(p)
	}
	if got != want {
		s.t.Errorf("shown %q, want %q", got, want)
	}
}

// over waits for the end of a terminal, and returns its reason.
func (s *site) over(c *terminal.Client) *app.Error {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		if _, err := c.Next(ctx, 1000); err != nil {
			e := app.AsError(err)
			if errors.Is(err, context.DeadlineExceeded) {
				s.t.Fatal("it doesn't end")
			}
			return e
		}
	}
}

// row waits until a terminal has ended in the database, or hasn't.
func (s *site) row(id string, open bool) terminal.Terminal {
	s.t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		x, err := s.Store.Terminal(s.t.Context(), app.DefaultTenant, id)
		if err != nil {
			s.t.Fatal(err)
		}
		if x.Open() == open {
			return x
		}
		if time.Now().After(late) {
			s.t.Fatalf("%+v", x)
		}
	}
}

// until waits for something.
func (s *site) until(what string, is func() bool) {
	s.t.Helper()
	for late := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			s.t.Fatal("never: " + what)
		}
	}
}

func TestATerminalIsOpenedTypedIntoAndEnds(t *testing.T) {
	s := newSite(t, false)
	c := s.open(terminal.Open{Size: family.TerminalSize{Columns: 100, Rows: 30}})
	sh := s.node.last()
	go sh.show("$ ")
	s.reads(c, "$ ")
	if err := errors.Join(c.Write([]byte("ls\n")), c.Resize(family.TerminalSize{Columns: 5000, Rows: 9000})); err != nil {
		t.Fatal(err)
	}
	if typed, size := sh.now(); typed != "ls\n" || size != (family.TerminalSize{Columns: terminal.MostColumns, Rows: terminal.MostRows}) {
		t.Errorf("%q, %v", typed, size)
	}
	for _, size := range []family.TerminalSize{{}, {Columns: -1, Rows: 5}, {Columns: 5}} {
		if _ = c.Resize(size); func() family.TerminalSize { _, z := sh.now(); return z }() != (family.TerminalSize{Columns: 80, Rows: 24}) {
			t.Errorf("%v is taken", size)
		}
	}
	if x := c.Terminal(); c.Kept() || x.User != "ada" || x.Node != "n1" || x.Recorded || c.Reason() != nil {
		t.Errorf("%+v", x)
	}
	o, target := s.keys.orders[0], s.node.targets[0]
	if o.KeyID != "muster:default/ada" || fmt.Sprint(o.Principals) != "[ubuntu]" || o.Until.Sub(s.Clock.Now()) != 5*time.Minute ||
		target.HostKey != "ssh-ed25519 HOST" || target.User != "ubuntu" || target.Address != "10.0.0.1" || target.Certificate != "signed" {
		t.Errorf("signed in with %+v to %+v", o, target)
	}
	sh.exit()
	if why := s.over(c); why.Reason != "exited" {
		t.Error(why)
	}
	if x := s.row(c.Terminal().ID, false); x.EndedBy != "" {
		t.Errorf("%+v", x)
	}
	entries, err := s.Store.Audit(t.Context(), app.AuditFilter{Act: "terminal.", Limit: 10})
	if err != nil || len(entries) != 2 || entries[1].Act != "terminal.open" || entries[0].Act != "terminal.end" || entries[1].Who != "ada" {
		t.Errorf("%+v, %v", entries, err)
	}
	if _, err := s.try(s.ada, terminal.Open{ID: c.Terminal().ID}); app.AsError(err).Reason != "over" || app.AsError(err).Hint == "" {
		t.Errorf("one that has ended is continued: %v", err)
	}
}

func TestWhoOpensTerminals(t *testing.T) {
	s := newSite(t, false)
	mine := s.open(terminal.Open{}).Terminal().ID
	for name, c := range map[string]struct {
		who  app.Actor
		o    terminal.Open
		code app.Code
	}{
		"another's cluster":  {s.Actor("bob", app.RoleUser), terminal.Open{}, app.ENotFound},
		"a viewer":           {s.Actor("ada", app.RoleViewer), terminal.Open{}, app.EForbidden},
		"another tenant":     {app.Actor{Tenant: "acme", User: "ada", Role: app.RoleAdmin}, terminal.Open{}, app.ENotFound},
		"no cluster":         {s.ada, terminal.Open{Cluster: ".."}, app.ENotFound},
		"no node":            {s.ada, terminal.Open{Node: "n9"}, app.ENotFound},
		"a path":             {s.ada, terminal.Open{Node: "../n1"}, app.ENotFound},
		"no machine":         {s.ada, terminal.Open{Node: "n2"}, app.EConflict},
		"no terminal":        {s.ada, terminal.Open{ID: "none"}, app.ENotFound},
		"another's terminal": {s.Actor("root", app.RoleAdmin), terminal.Open{ID: mine}, app.ENotFound},
		"of another node":    {s.ada, terminal.Open{ID: mine, Node: "n2"}, app.EConflict},
	} {
		if _, err := s.try(c.who, c.o); app.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	s.node.mu.Lock()
	s.node.broken = true
	s.node.mu.Unlock()
	if _, err := s.try(s.ada, terminal.Open{}); app.CodeOf(err) != app.ETransient {
		t.Error(err)
	}
	if n := s.Number(`SELECT count(*) FROM terminals`); n != 1 {
		t.Errorf("%d terminals", n)
	}
}

func TestALostBrowserContinuesWhereItWas(t *testing.T) {
	s := newSite(t, false)
	c := s.open(terminal.Open{})
	sh, id := s.node.last(), c.Terminal().ID
	go sh.show("one two")
	s.reads(c, "one two")
	c.Close()
	again := s.open(terminal.Open{ID: id, Run: c.Run(), From: 4})
	s.reads(again, "two")
	other := s.open(terminal.Open{ID: id, Run: "another run", From: 4}) // a page that was loaded again
	s.reads(other, "one two")
	far := s.open(terminal.Open{ID: id, Run: c.Run(), From: 1 << 40})
	go sh.show(" three")
	for _, v := range []*terminal.Client{again, other, far} { // all who look at it see the same
		s.reads(v, " three")
	}
	if far.At() != 13 {
		t.Errorf("a client beyond the end is at %d", far.At())
	}
	_ = again.Write([]byte("a"))
	_ = other.Write([]byte("b"))
	if typed, _ := sh.now(); typed != "ab" {
		t.Errorf("typed %q", typed)
	}
	if n := len(s.node.targets); n != 1 {
		t.Errorf("signed in %d times", n)
	}
	again.Quit()
	if why := s.over(other); why.Reason != "closed" {
		t.Error(why)
	}
}

func TestASlowReaderHoldsTheProgramBack(t *testing.T) {
	s := newSite(t, false)
	c := s.open(terminal.Open{})
	sh := s.node.last()
	const piece, all = 16 << 10, 4 << 20
	var written atomic.Int64
	go func() {
		for range all / piece {
			sh.show(strings.Repeat("x", piece))
			written.Add(piece)
		}
		sh.exit()
	}()
	for c.At() < all {
		p, err := c.Next(t.Context(), piece)
		if err != nil {
			t.Fatal(err)
		}
		if n := written.Load(); n > c.At()+terminal.MostBehind+4*piece { // what is on its way comes on top
			t.Fatalf("%d bytes were written when %d had been read", n, c.At())
		}
		if strings.Trim(string(p), "x") != "" {
			t.Fatal("bytes were lost")
		}
	}
	if c.At() != all {
		t.Errorf("%d of %d bytes", c.At(), all)
	}
	// Without anyone who looks, the program runs, and the end of what it shows is kept.
	c = s.open(terminal.Open{})
	other := s.node.last() // sh still exits
	c.Close()
	other.show(strings.Repeat("y", 1<<20))
	other.show("end")
	c = s.open(terminal.Open{ID: c.Terminal().ID})
	if at := c.At(); at < 1<<20-terminal.ScrollBack*5/4 { // a browser counts from there
		t.Errorf("who comes back begins at %d", at)
	}
	began, got := c.At(), int64(0)
	for c.At() < 1<<20+3 {
		p, err := c.Next(t.Context(), piece)
		if err != nil {
			t.Fatal(err)
		}
		got += int64(len(p))
	}
	if c.At()-began != got {
		t.Errorf("%d bytes are shown from %d to %d", got, began, c.At())
	}
	if got < terminal.ScrollBack || got > terminal.ScrollBack*5/4+piece {
		t.Errorf("%d bytes of scroll-back", got)
	}
}

func TestATerminalThatIsLeftEnds(t *testing.T) {
	s := newSite(t, true)
	c, stays := s.open(terminal.Open{}), s.open(terminal.Open{})
	c.Close()
	s.Clock.Move(terminal.LingerTime)
	s.Services.Terminal.CheckAll()
	c = s.open(terminal.Open{ID: c.Terminal().ID}) // in time
	s.Clock.Move(time.Hour)
	s.Services.Terminal.CheckAll()
	if c.Reason() != nil || stays.Reason() != nil {
		t.Fatalf("one that is open has ended: %v, %v", c.Reason(), stays.Reason())
	}
	c.Close()
	s.Clock.Move(terminal.LingerTime + time.Second)
	s.Services.Terminal.CheckAll()
	if why := s.over(c); why.Reason != "left" || stays.Reason() != nil {
		t.Errorf("%v, %v", why, stays.Reason())
	}
	s.row(c.Terminal().ID, false)
	if s.node.keeps(c.Terminal().ID) || !s.node.keeps(stays.Terminal().ID) {
		t.Error("the node keeps one that has ended")
	}
}

func TestATerminalEndsWithTheAccess(t *testing.T) {
	s := newSite(t, true)
	bob := s.Actor("bob", app.RoleUser)
	share := func(c sharing.SharingChange) {
		t.Helper()
		if _, err := s.Services.Cluster.Sharing.ShareCluster(t.Context(), s.ada, s.cluster, c); err != nil {
			t.Fatal(err)
		}
	}
	share(sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Access: app.AccessUser}}})
	c, err := s.try(bob, terminal.Open{})
	if err != nil {
		t.Fatal(err)
	}
	s.Services.Terminal.CheckAll()
	if c.Reason() != nil {
		t.Fatal(c.Reason())
	}
	share(sharing.SharingChange{Remove: []sharing.Share{{Person: "bob"}}})
	s.Services.Terminal.CheckAll()
	if why := s.over(c); why.Reason != "access" || why.Code != app.EForbidden {
		t.Error(why)
	}
	s.row(c.Terminal().ID, false)
	if s.node.keeps(c.Terminal().ID) {
		t.Error("the shell is still on the node")
	}
	// A share that has ended, though no one has removed it.
	share(sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Access: app.AccessUser, For: "8h"}}})
	if c, err = s.try(bob, terminal.Open{}); err != nil {
		t.Fatal(err)
	}
	s.Clock.Move(8*time.Hour - time.Second)
	s.Services.Terminal.CheckAll()
	if c.Reason() != nil {
		t.Fatal(c.Reason())
	}
	s.Clock.Move(time.Second)
	s.Services.Terminal.CheckAll()
	if why := s.over(c); why.Reason != "access" || why.Code != app.EForbidden {
		t.Error(why)
	}
	if _, err := s.try(bob, terminal.Open{ID: c.Terminal().ID}); app.CodeOf(err) != app.ENotFound {
		t.Errorf("an expired invitation opens a terminal: %v", err)
	}
	// Its node is locked, and then its cluster; admins stay.
	abe := s.Actor("abe", app.RoleAdmin)
	for _, node := range []string{"n1", ""} {
		if c, err = s.try(s.ada, terminal.Open{}); err != nil {
			t.Fatal(err)
		}
		admins, err := s.try(abe, terminal.Open{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Services.Cluster.Locks.LockCluster(t.Context(), abe, s.cluster, lock.Ask{Node: node, Reason: "odd logins"}); err != nil {
			t.Fatal(err)
		}
		s.Services.Terminal.CheckAll()
		if why := s.over(c); why.Code != app.EForbidden || !strings.Contains(why.Message, "odd logins") || s.node.keeps(c.Terminal().ID) {
			t.Errorf("locked %q: %v", node, why)
		}
		if _, err := s.try(s.ada, terminal.Open{}); app.AsError(err).Reason != app.Locked {
			t.Errorf("locked %q: %v", node, err)
		}
		if admins.Reason() != nil {
			t.Errorf("locked %q ends an admin's terminal: %v", node, admins.Reason())
		}
		if err := s.Services.Cluster.Locks.UnlockCluster(t.Context(), abe, s.cluster, node); err != nil {
			t.Fatal(err)
		}
	}
	// A machine that is gone: it may come back, and the shell with it.
	if c, err = s.try(s.ada, terminal.Open{}); err != nil {
		t.Fatal(err)
	}
	s.SQL(`UPDATE nodes SET status = 'failed' WHERE name = 'n1'`)
	s.Services.Terminal.CheckAll()
	if why := s.over(c); why.Reason != "connection_lost" {
		t.Error(why)
	}
	if _, err := s.try(s.ada, terminal.Open{ID: c.Terminal().ID}); app.AsError(err).Reason != "no_machine" {
		t.Error(err)
	}
	s.row(c.Terminal().ID, true)
	s.SQL(`UPDATE nodes SET status = 'ready' WHERE name = 'n1'`)
	if c = s.open(terminal.Open{ID: c.Terminal().ID}); !s.node.keeps(c.Terminal().ID) {
		t.Error("the shell was ended")
	}
	// A cluster that is deleted.
	if c, err = s.try(s.ada, terminal.Open{}); err != nil {
		t.Fatal(err)
	}
	s.SQL(`UPDATE nodes SET status = 'deleted' WHERE name = 'n1'`)
	s.Services.Terminal.CheckAll()
	if why := s.over(c); why.Reason != "access" {
		t.Error(why)
	}
}

func TestAdminsEndTerminals(t *testing.T) {
	s := newSite(t, true)
	root, bob := s.Actor("root", app.RoleAdmin), s.Actor("bob", app.RoleUser)
	here, there, own := s.open(terminal.Open{}), s.open(terminal.Open{}), s.open(terminal.Open{})
	if err := s.Services.Terminal.EndTerminal(t.Context(), bob, here.Terminal().ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another user: %v", err)
	}
	if err := s.Services.Terminal.EndTerminal(t.Context(), root, here.Terminal().ID); err != nil {
		t.Fatal(err)
	}
	if why := s.over(here); why.Reason != "ended" || why.Message != "root ended this terminal." {
		t.Error(why)
	}
	// On another server.
	next := s.Server()
	s.use(next)
	if err := next.Terminal.EndTerminal(t.Context(), root, there.Terminal().ID); err != nil {
		t.Fatal(err)
	}
	s.Services.Terminal.CheckAll()
	if why := s.over(there); why.Reason != "ended" {
		t.Error(why)
	}
	for _, id := range []string{here.Terminal().ID, there.Terminal().ID} {
		if x := s.row(id, false); x.EndedBy != "root" || s.node.keeps(id) {
			t.Errorf("%+v", x)
		}
	}
	// One that no server has.
	left := s.open(terminal.Open{}).Terminal().ID
	s.Services.Terminal.Close()
	here, own = nil, s.open(terminal.Open{ID: own.Terminal().ID})
	if err := next.Terminal.EndTerminal(t.Context(), s.ada, left); err != nil {
		t.Fatal(err)
	}
	s.until("its shell is ended", func() bool { return !s.node.keeps(left) })
	// What is listed.
	for who, want := range map[*app.Actor]int{&root: 4, &s.ada: 4, &bob: 0} {
		list, err := s.Services.Terminal.Terminals(t.Context(), *who, terminal.Filter{})
		if err != nil || len(list) != want {
			t.Errorf("%s sees %d: %v", who.User, len(list), err)
		}
	}
	list, err := s.Services.Terminal.Terminals(t.Context(), s.ada, terminal.Filter{Open: true, Cluster: "web"})
	if err != nil || len(list) != 1 || list[0].ID != own.Terminal().ID {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.Services.Terminal.EndTerminal(t.Context(), s.ada, own.Terminal().ID); err != nil || s.over(own).Reason != "ended" {
		t.Error(err)
	}
}

func TestAUserHas20Terminals(t *testing.T) {
	s := newSite(t, false)
	s.node.slow = make(chan struct{})
	opened := make(chan error, 2*terminal.MostOfUser)
	for range 2 * terminal.MostOfUser { // at once
		go func() { _, err := s.try(s.ada, terminal.Open{}); opened <- err }()
	}
	refused := 0
	for range terminal.MostOfUser {
		if err := <-opened; app.CodeOf(err) != app.ERateLimit {
			t.Fatal(err)
		}
		refused++
	}
	close(s.node.slow)
	for range terminal.MostOfUser {
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.try(s.ada, terminal.Open{}); app.CodeOf(err) != app.ERateLimit {
		t.Error(err)
	}
	if _, err := s.try(s.Actor("root", app.RoleAdmin), terminal.Open{}); err != nil {
		t.Errorf("another user: %v", err)
	}
}

func TestATerminalContinuesOnAnotherServer(t *testing.T) {
	s := newSite(t, true)
	c := s.open(terminal.Open{})
	id := c.Terminal().ID
	go s.node.last().show("before")
	s.reads(c, "before")
	next := s.Server()
	s.use(next)
	// Two windows at once continue one session.
	type answer struct {
		c   *terminal.Client
		err error
	}
	answers := make(chan answer, 2)
	for range 2 {
		go func() {
			c, err := next.Terminal.OpenTerminal(t.Context(), s.ada, terminal.Open{Cluster: s.cluster, Node: "n1", ID: id, Run: c.Run(), From: 6})
			answers <- answer{c, err}
		}()
	}
	a, b := <-answers, <-answers
	if err := errors.Join(a.err, b.err); err != nil {
		t.Fatal(err)
	}
	if a.c.Run() != b.c.Run() || a.c.Run() == c.Run() || a.c.At() != 0 {
		t.Errorf("runs %s, %s and %s", a.c.Run(), b.c.Run(), c.Run())
	}
	if why := s.over(c); why.Reason != "moved" {
		t.Errorf("on the first server: %v", why)
	}
	go s.node.last().show("after")
	s.reads(a.c, "after")
	s.reads(b.c, "after")
	next.Terminal.CheckAll()
	if x := s.row(id, true); a.c.Reason() != nil || !x.Open() {
		t.Error(a.c.Reason())
	}
	if n := s.node.tidied; n != 1 { // by the one that was new: it may be this very session that is taken for left
		t.Errorf("sessions that were left are ended %d times", n)
	}
	// The server stops, and the first one continues it.
	next.Terminal.Close()
	if why := s.over(a.c); why.Reason != "server_stops" || why.Code != app.ETransient {
		t.Error(why)
	}
	// A connection that is lost at once isn't the terminal's end.
	s.node.mu.Lock()
	s.node.flaky = true
	s.node.mu.Unlock()
	if _, err := s.try(s.ada, terminal.Open{ID: id}); app.CodeOf(err) != app.ETransient {
		t.Error(err)
	}
	s.node.mu.Lock()
	s.node.flaky = false
	s.node.mu.Unlock()
	c = s.open(terminal.Open{ID: id})
	s.node.cut()
	if why := s.over(c); why.Reason != "connection_lost" {
		t.Error(why)
	}
	s.row(id, true)
	c = s.open(terminal.Open{ID: id})
	for range terminal.MostClients - 1 {
		s.open(terminal.Open{ID: id})
	}
	if _, err := s.try(s.ada, terminal.Open{ID: id}); app.CodeOf(err) != app.ERateLimit {
		t.Errorf("one more window: %v", err)
	}
	c.Quit()
	s.row(id, false)
	if s.node.keeps(id) {
		t.Error("the shell is still on the node")
	}
}

// The audit log knows of an end before the node is asked to end the shell, which may take long.
func TestAnEndIsKeptBeforeTheNodeAnswers(t *testing.T) {
	s := newSite(t, true)
	c := s.open(terminal.Open{})
	s.node.killing = func() {
		if x, err := s.Store.Terminal(t.Context(), app.DefaultTenant, c.Terminal().ID); err != nil || x.Open() {
			t.Errorf("%+v, %v", x, err)
		}
	}
	c.Quit()
	if s.node.keeps(c.Terminal().ID) {
		t.Error("the shell is still on the node")
	}
}

func TestContinuingIsLimited(t *testing.T) {
	s := newSite(t, true)
	c := s.open(terminal.Open{})
	s.Services.Terminal.Close()
	for range terminal.MostOfUser {
		s.open(terminal.Open{})
	}
	if _, err := s.try(s.ada, terminal.Open{ID: c.Terminal().ID}); app.CodeOf(err) != app.ERateLimit {
		t.Error(err)
	}
	s.row(c.Terminal().ID, true)
	s.Services.Terminal.Close()
	// The node was restarted.
	s.node.mu.Lock()
	s.node.kept = map[string]bool{}
	s.node.mu.Unlock()
	if _, err := s.try(s.ada, terminal.Open{ID: c.Terminal().ID}); app.AsError(err).Reason != "not_kept" || len(s.node.shells) != terminal.MostOfUser+1 {
		t.Errorf("%d shells, %v", len(s.node.shells), err)
	}
	s.row(c.Terminal().ID, false)
}

func TestWithoutTmuxATerminalEndsWithItsConnection(t *testing.T) {
	s := newSite(t, false)
	c := s.open(terminal.Open{})
	s.node.cut()
	if why := s.over(c); why.Reason != "connection_lost" {
		t.Error(why)
	}
	s.row(c.Terminal().ID, false)
	s.SQL(`UPDATE terminals SET ended_at = 0`) // as of a server that was killed
	if _, err := s.try(s.ada, terminal.Open{ID: c.Terminal().ID}); app.AsError(err).Reason != "not_kept" {
		t.Error(err)
	}
	s.row(c.Terminal().ID, false)
	// One of a server that was killed, and that no one comes back to.
	s.SQL(`UPDATE terminals SET ended_at = 0`)
	s.Clock.Move(30 * time.Minute)
	if err := s.Services.Terminal.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.row(c.Terminal().ID, false)
}

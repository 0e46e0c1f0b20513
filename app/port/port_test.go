package port_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/family"
	"muster/app/lock"
	"muster/app/port"
	"muster/app/sharing"
	"muster/app/sshaccess"
)

func TestLabels(t *testing.T) {
	for _, a := range []port.Address{{Port: 1, Node: "n1", Cluster: "shop-1"}, {Port: 65535, TLS: true, Node: "n100", Cluster: "a--b-2"}} {
		if got, err := port.ParseLabel(a.Label()); err != nil || got != a {
			t.Errorf("%s: %+v, %v", a.Label(), got, err)
		}
	}
	for _, bad := range []string{"", "--", "80", "80--n1", "80--n1--", "80----shop-1", "0--n1--s", "65536--n1--s", "-1--n1--s", "+80--n1--s", "080--n1--s", "80ss--n1--s",
		"80--n1--Shop", "80--n1--s.", "80--n1--s/..", "80--n1--" + string(make([]byte, 60))} {
		if a, err := port.ParseLabel(bad); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q: %+v, %v", bad, a, err)
		}
	}
}

func FuzzParseLabel(f *testing.F) {
	f.Add("8080--n1--shop-1")
	f.Add("8443s--n1--shop-1")
	f.Fuzz(func(t *testing.T, label string) {
		if a, err := port.ParseLabel(label); err == nil && a.Label() != label {
			t.Errorf("%q is read as %q", label, a.Label())
		}
	})
}

func TestLinksOfNodes(t *testing.T) {
	c := app.Cluster{ID: "shop-1"}
	nodes := []app.Node{{Name: "n1", Hostname: "shop-1-n1.internal", Status: app.NodeReady, Addresses: map[string]string{app.AddressAccess: "198.51.100.7", app.AddressBind: "10.0.0.1"}},
		{Name: "n2", Status: app.NodeCreated, Addresses: map[string]string{app.AddressAccess: "198.51.100.8"}}}
	for link, want := range map[string]string{
		"http://198.51.100.7:8080/app?x=1": "8080--n1--shop-1 /app?x=1", "https://10.0.0.1": "443s--n1--shop-1 /",
		"http://shop-1-n1.internal/": "80--n1--shop-1 /", "http://198.51.100.8/": "", "http://203.0.113.1/": "", "ftp://10.0.0.1/": "", "http://:80/": "",
		"http://10.0.0.1:0/": "", "http://10.0.0.1:99999/": "", "javascript:alert(1)": "", "%": "",
	} {
		got := ""
		if a, path, ok := port.Of(c, nodes, link); ok {
			got = a.Label() + " " + path
		}
		if got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// conn is a connection to a node on whose port 80 something listens.
type conn struct {
	once sync.Once
	gone chan struct{}
	mu   sync.Mutex
	open []net.Conn
}

func (c *conn) Run(context.Context, family.Command, family.Output) (int, error) { return 0, nil }
func (c *conn) Put(context.Context, string, fs.FileMode, io.Reader) error       { return nil }
func (c *conn) Done() <-chan struct{}                                           { return c.gone }
func (c *conn) Terminal(context.Context, family.TerminalOptions) (family.Terminal, error) {
	return nil, errors.New("no terminals")
}

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.gone)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, p := range c.open {
			_ = p.Close()
		}
	})
	return nil
}

func (c *conn) DialPort(_ context.Context, address string) (net.Conn, error) {
	if address != "127.0.0.1:80" {
		return nil, &app.Error{Code: app.ETransient, Reason: family.PortClosed, Message: "closed"}
	}
	near, far := net.Pipe()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, far)
	return near, nil
}

type keys struct{ harness.Keys }

func (keys) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{Line: "signed"}, nil
}

// machines lets all nodes have a machine.
type machines struct{ sshaccess.Store }

func (m machines) Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error) {
	list, err := m.Store.Nodes(ctx, tenant, cluster)
	for i := range list {
		list[i].Status, list[i].HostKey, list[i].Addresses = app.NodeReady, "host key", map[string]string{app.AddressAccess: "10.0.0.1"}
	}
	return list, err
}

func TestLinksAreSharedAndEnd(t *testing.T) {
	b := harness.New(t)
	signIns := atomic.Int64{}
	a := b.Services.NodeAccess
	a.Store, a.Keys = machines{a.Store}, keys{}
	a.SignIn = func(context.Context, family.NodeTarget) (family.NodeConnection, error) {
		signIns.Add(1)
		return &conn{gone: make(chan struct{})}, nil
	}
	n := apptest.NewCluster(app.DefaultTenant, "shop", 1, b.Clock.Now(), apptest.Chain(1))
	if _, err := b.Store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s := b.Services.Port
	t.Cleanup(s.Close)
	ada, bob := b.Actor("ada", app.RoleUser), b.Actor("bob", app.RoleUser)
	at := port.Address{Port: 80, Node: "n1", Cluster: n.Cluster.ID}
	var work sync.WaitGroup
	var open [8]net.Conn
	for i := range open {
		work.Go(func() {
			c, err := s.DialPort(t.Context(), ada, at)
			if err != nil {
				t.Error(err)
				return
			}
			open[i] = c
		})
	}
	work.Wait()
	if signIns.Load() != 1 || t.Failed() {
		t.Fatalf("%d sign-ins for 8 connections of a user", signIns.Load())
	}
	if _, err := s.DialPort(t.Context(), bob, at); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another user's: %v", err)
	}
	closed := at
	closed.Port = 81
	if _, err := s.DialPort(t.Context(), ada, closed); app.AsError(err).Reason != family.PortClosed || app.AsError(err).Message != "Nothing listens on port 81 of node n1." {
		t.Errorf("a closed port: %v", err)
	}
	b.Clock.Move(2 * port.IdleTime)
	if left := s.CheckAll(t.Context(), ada); left != 1 {
		t.Errorf("%d links while there are connections", left)
	}
	for _, c := range open[1:] {
		_ = c.Close()
		_ = c.Close()
	}
	b.Clock.Move(2 * port.IdleTime)
	if left := s.CheckAll(t.Context(), ada); left != 1 {
		t.Errorf("%d links while there is a connection", left)
	}
	// The access ends, and with it what is open.
	if left := s.CheckAll(t.Context(), bob); left != 0 {
		t.Errorf("%d links without access", left)
	}
	if _, err := open[0].Read(make([]byte, 1)); err == nil {
		t.Error("a connection is open without access")
	}
	c, err := s.DialPort(t.Context(), ada, at)
	if err != nil || signIns.Load() != 2 {
		t.Fatalf("%v, %d sign-ins", err, signIns.Load())
	}
	_ = c.Close()
	b.Clock.Move(2 * port.IdleTime)
	if left := s.CheckAll(t.Context(), ada); left != 0 {
		t.Errorf("%d idle links", left)
	}
	// A lock of the node, and of the cluster.
	abe := b.Actor("abe", app.RoleAdmin)
	for _, node := range []string{"n1", ""} {
		if c, err = s.DialPort(t.Context(), ada, at); err != nil {
			t.Fatal(err)
		}
		if err := b.Services.Cluster.Locks.LockCluster(t.Context(), abe, n.Cluster.ID, lock.Ask{Node: node, Reason: "odd logins"}); err != nil {
			t.Fatal(err)
		}
		if left := s.CheckAll(t.Context(), ada); left != 0 {
			t.Errorf("%d links, locked %q", left, node)
		}
		if _, err := s.DialPort(t.Context(), ada, at); app.AsError(err).Reason != app.Locked {
			t.Errorf("locked %q: %v", node, err)
		}
		_ = c.Close()
		if err := b.Services.Cluster.Locks.UnlockCluster(t.Context(), abe, n.Cluster.ID, node); err != nil {
			t.Fatal(err)
		}
	}
	// A share that has ended counts for nothing, though no one has removed it: for ports, and for what SSH clients connect through the server.
	change := sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Access: app.AccessUser, For: "8h"}}}
	if _, err := b.Services.Cluster.Sharing.ShareCluster(t.Context(), ada, n.Cluster.ID, change); err != nil {
		t.Fatal(err)
	}
	if c, err = s.DialPort(t.Context(), bob, at); err != nil {
		t.Fatal(err)
	}
	streams := func() app.Code {
		why := a.StillMay(t.Context(), bob, "CheckSSHStream", n.Cluster.ID, "n1")
		if why == nil {
			return ""
		}
		return why.Code
	}
	if left, code := s.CheckAll(t.Context(), bob), streams(); left != 1 || code != "" {
		t.Errorf("%d links of someone the cluster is shared with, and %s", left, code)
	}
	b.Clock.Move(8 * time.Hour)
	if left, code := s.CheckAll(t.Context(), bob), streams(); left != 0 || code != app.EForbidden {
		t.Errorf("%d links after the end of the share, and %q", left, code)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is open after the end of the share")
	}
	if _, err := s.DialPort(t.Context(), bob, at); app.CodeOf(err) != app.ENotFound {
		t.Errorf("an expired invitation opens a port: %v", err)
	}
}

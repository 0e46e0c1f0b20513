package tunnel_test

import (
	"context"
	"net"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/tunnel"
)

// site is two servers on one database.
type site struct {
	*harness.Harness
	one, two *tunnel.Service
}

func newSite(t *testing.T) *site {
	t.Helper()
	h := harness.New(t)
	return &site{h, h.Services.Tunnel, h.Server().Tunnel}
}

func provisioner(id string, tags map[string]string) app.Provisioner {
	return app.Provisioner{ID: id, State: app.ProvisionerActive, Tags: tags, Only: []string{"default"}}
}

func finds(p app.Provisioner) func(context.Context) (app.Provisioner, error) {
	return func(context.Context) (app.Provisioner, error) { return p, nil }
}

// dialled is what came of a call of Dial.
type dialled struct {
	conn net.Conn
	err  error
}

func dial(ctx context.Context, s *tunnel.Service, r tunnel.Request) <-chan dialled {
	got := make(chan dialled, 1)
	go func() {
		c, err := s.Dial(ctx, r)
		got <- dialled{c, err}
	}()
	return got
}

var request = tunnel.Request{Tenant: "default", Address: "10.0.0.1:22", Needs: map[string]string{"zone": "a"}, Guarded: true}

func TestAProvisionerElsewhereConnects(t *testing.T) {
	s := newSite(t)
	got := dial(t.Context(), s.one, request)
	p := provisioner("p1", map[string]string{"zone": "a", "rack": "7"})
	r, err := s.one.Await(t.Context(), finds(p))
	if err != nil || r == nil || r.Address != "10.0.0.1:22" || r.Tenant != "default" || !r.Guarded || r.Needs["zone"] != "a" {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, c := range map[string]struct {
		on     *tunnel.Service
		who    string
		id     string
		code   app.Code
		reason string
	}{
		"one that wasn't asked":    {s.one, "p2", r.ID, app.ENotFound, ""},
		"no such request":          {s.one, "p1", "none", app.ENotFound, ""},
		"on another server":        {s.two, "p1", r.ID, app.EStale, tunnel.Elsewhere},
		"the one that was, here":   {s.one, "p1", r.ID, "", ""},
		"none, for a request of 2": {s.two, "p2", r.ID, app.ENotFound, ""},
	} {
		if err := c.on.Check(t.Context(), c.who, c.id); app.CodeOf(err) != c.code || err != nil && app.AsError(err).Reason != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	near, far := net.Pipe()
	defer far.Close()
	if !s.one.Answer(r.ID, near) {
		t.Fatal("no one waits")
	}
	if d := <-got; d.err != nil || d.conn != near {
		t.Fatalf("%+v", d)
	}
	// A second answer, and one on another server, come too late.
	if s.one.Answer(r.ID, far) || s.two.Answer(r.ID, far) {
		t.Error("a late answer is taken")
	}
	if n := s.Number(`SELECT count(*) FROM tunnels`); n != 0 {
		t.Errorf("%d requests are left", n)
	}
}

func TestWhichProvisionerIsAsked(t *testing.T) {
	for name, p := range map[string]app.Provisioner{
		"without the tag":    provisioner("p", nil),
		"with another value": provisioner("p", map[string]string{"zone": "b"}),
		"of other tenants":   {ID: "p", State: app.ProvisionerActive, Tags: map[string]string{"zone": "a"}, Only: []string{"acme"}},
		"draining":           {ID: "p", State: app.ProvisionerDraining, Tags: map[string]string{"zone": "a"}, Only: []string{"default"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			ctx, cancel := context.WithCancel(t.Context())
			got := dial(ctx, s.one, request)
			// One that may takes it only once the other has looked.
			looked := make(chan struct{}, 10)
			waits, stop := context.WithCancel(t.Context())
			other := make(chan *tunnel.Request, 1)
			go func() {
				r, _ := s.one.Await(waits, func(context.Context) (app.Provisioner, error) {
					if s.Number(`SELECT count(*) FROM tunnels`) == 1 {
						select {
						case looked <- struct{}{}:
						default:
						}
					}
					return p, nil
				})
				other <- r
			}()
			<-looked
			stop()
			if r := <-other; r != nil {
				t.Errorf("it takes %+v", r)
			}
			r, err := s.one.Await(t.Context(), finds(provisioner("fits", map[string]string{"zone": "a"})))
			if r == nil || err != nil {
				t.Fatal(err)
			}
			cancel()
			if d := <-got; app.AsError(d.err).Reason != "no_provisioner" {
				t.Errorf("%+v %v", d, d.err)
			}
		})
	}
}

func TestOneProvisionerTakesARequest(t *testing.T) {
	s := newSite(t)
	got := dial(t.Context(), s.one, request)
	ctx, cancel := context.WithCancel(t.Context())
	taken := make(chan *tunnel.Request, 8)
	for i := range 8 {
		on := s.one
		go func() {
			r, err := on.Await(ctx, finds(provisioner(string(rune('a'+i)), map[string]string{"zone": "a"})))
			if err != nil {
				t.Error(err)
			}
			taken <- r
		}()
	}
	r := <-taken
	if r == nil {
		t.Fatal("no one takes it")
	}
	failure := &app.Error{Code: app.ETransient, Reason: "no_answer", Message: "The node isn't responding.", Hint: "Wait."}
	if err := s.one.Fail(t.Context(), "other", r.ID, failure); app.CodeOf(err) != app.ENotFound {
		t.Errorf("of one that wasn't asked: %v", err)
	}
	taker, err := s.one.Store.TunnelTaker(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.one.Fail(t.Context(), taker, r.ID, failure); err != nil {
		t.Fatal(err)
	}
	if d := <-got; app.CodeOf(d.err) != app.ETransient || app.AsError(d.err).Reason != "no_answer" || app.AsError(d.err).Hint != "Wait." {
		t.Errorf("%+v %v", d, d.err)
	}
	cancel()
	for range 7 {
		if r := <-taken; r != nil {
			t.Errorf("%+v is taken twice", r)
		}
	}
}

// closes reports that it was closed.
type closes struct {
	net.Conn
	closed chan struct{}
}

func (c closes) Close() error { close(c.closed); return nil }

func TestRequestsThatNoOneAnswers(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.one.Dial(ctx, request)
	if e := app.AsError(err); e.Code != app.ETransient || e.Reason != "no_provisioner" || e.Message != "No connected provisioner with zone=a reaches this node." {
		t.Error(err)
	}
	if n := s.Number(`SELECT count(*) FROM tunnels`); n != 0 {
		t.Errorf("%d requests are left", n)
	}
	// Those of a server that was killed are asked for no longer, and removed by the next.
	old := request
	old.ID, old.At = "old", s.Clock.Now()
	if err := s.Store.AddTunnel(t.Context(), old, time.Time{}); err != nil {
		t.Fatal(err)
	}
	s.Clock.Move(2 * time.Minute)
	ctx, cancel = context.WithCancel(t.Context())
	got := dial(ctx, s.one, request)
	r, err := s.one.Await(t.Context(), finds(provisioner("p", map[string]string{"zone": "a"})))
	if err != nil || r.ID == "old" || s.Number(`SELECT count(*) FROM tunnels`) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	// An answer and the end at once: the connection is used, or closed.
	c := closes{closed: make(chan struct{})}
	cancel()
	answered := s.one.Answer(r.ID, c)
	switch d := <-got; {
	case d.conn != nil && answered:
	case d.err == nil:
		t.Errorf("%+v %v", d, d.err)
	case answered:
		<-c.closed
	}
}

func TestTheServerConnectsItself(t *testing.T) {
	s := newSite(t)
	near, far := net.Pipe()
	defer far.Close()
	s.one.SetLocal(&tunnel.Local{Tags: map[string]string{"zone": "a"}, Dial: func(_ context.Context, r tunnel.Request) (net.Conn, error) {
		if r.Address != "10.0.0.1:22" || !r.Guarded {
			t.Errorf("%+v", r)
		}
		return near, nil
	}})
	if c, err := s.one.Dial(t.Context(), request); err != nil || c != near {
		t.Errorf("%v, %v", c, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	far2 := request
	far2.Needs = map[string]string{"zone": "b"}
	if _, err := s.one.Dial(ctx, far2); err == nil {
		t.Error("the server connects to what it doesn't reach")
	}
}

package jobs_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/jobs/provisioner"
)

// office is a server that returns orders as a test says, at once.
type office struct {
	mu       sync.Mutex
	orders   fleet.Orders
	err      error
	beats    []fleet.Heartbeat
	ids      int
	changed  chan struct{}
	register error
	left     bool
}

func newOffice() *office { return &office{changed: make(chan struct{})} }

func (o *office) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *office) order(version string, workers ...fleet.WorkerOrder) {
	o.set(func() { o.orders = fleet.Orders{Version: version, Workers: workers} })
}

func (o *office) Register(context.Context, fleet.Registration) (fleet.Registered, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.register != nil {
		return fleet.Registered{}, o.register
	}
	o.ids++
	o.err = nil
	return fleet.Registered{ID: "p" + string(rune('0'+o.ids)), Installation: "i"}, nil
}

func (o *office) Beat(ctx context.Context, b fleet.Heartbeat) (fleet.Orders, error) {
	o.mu.Lock()
	o.beats = append(o.beats, b)
	for o.err == nil && o.orders.Version == b.Known && b.Wait > 0 {
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-ctx.Done():
			return fleet.Orders{}, &app.Error{Code: app.ETransient, Message: "gone"}
		case <-changed:
		case <-time.After(100 * time.Millisecond):
			b.Wait = 0
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	return o.orders, o.err
}

func (o *office) Leave(context.Context, string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = true
	return nil
}

// hand is a worker that does what the test says.
type hand struct {
	name   string
	order  fleet.WorkerOrder
	mu     sync.Mutex
	calls  []string
	done   chan struct{}
	once   sync.Once
	drains bool // it ends when asked to drain
}

func (h *hand) note(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, s)
}

func (h *hand) Update(o fleet.WorkerOrder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.order = o
}

func (h *hand) Drain() {
	h.note("drain")
	if h.drains {
		h.die()
	}
}
func (h *hand) Stop()                 { h.note("stop"); h.die() }
func (h *hand) Done() <-chan struct{} { return h.done }
func (h *hand) die()                  { h.once.Do(func() { close(h.done) }) }

func (h *hand) slots() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.order.Slots
}

// shop runs a provisioner on an office.
type shop struct {
	*testing.T
	office *office
	mu     sync.Mutex
	hands  []*hand
	busy   bool // workers do not end by a drain
	stop   context.CancelFunc
	ended  chan error
}

func newShop(t *testing.T, drain time.Duration) *shop {
	t.Helper()
	s := &shop{T: t, office: newOffice(), ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	s.stop = stop
	p := &provisioner.Provisioner{Registration: fleet.Registration{Name: "h1", Slots: 8}, Server: s.office, DrainTime: drain, Log: slog.New(slog.DiscardHandler),
		Start: func(_ fleet.Registered, name string, o fleet.WorkerOrder) (provisioner.WorkerHandle, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			h := &hand{name: name, order: o, done: make(chan struct{}), drains: !s.busy}
			s.hands = append(s.hands, h)
			return h, nil
		}}
	go func() { s.ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for _, h := range s.all() {
			h.die()
		}
		select {
		case <-s.ended:
		case <-time.After(hangs):
			t.Error("the provisioner does not end")
		}
	})
	return s
}

func (s *shop) all() []*hand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*hand(nil), s.hands...)
}

func (s *shop) until(what string, done func() bool) {
	s.Helper()
	for end := time.Now().Add(hangs); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("not in time: " + what)
		}
	}
}

func (s *shop) ends() error {
	s.Helper()
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-time.After(hangs):
		s.Fatal("the provisioner does not end")
		return nil
	}
}

func TestProvisionerFollowsOrders(t *testing.T) {
	s := newShop(t, time.Minute)
	s.office.order("1", fleet.WorkerOrder{Tenant: "a", Slots: 2}, fleet.WorkerOrder{Tenant: "b", Slots: 3})
	s.until("two workers", func() bool { return len(s.all()) == 2 })
	s.office.order("2", fleet.WorkerOrder{Tenant: "a", Slots: 5})
	s.until("more slots", func() bool {
		for _, h := range s.all() {
			if h.slots() == 5 {
				return true
			}
		}
		return false
	})
	s.until("the other is drained", func() bool {
		n := 0
		for _, h := range s.all() {
			select {
			case <-h.done:
				n++
			default:
			}
		}
		return n == 1
	})
	if n := len(s.all()); n != 2 {
		t.Errorf("%d workers were started", n)
	}
}

func TestCrashedWorkerIsRestartedAndReported(t *testing.T) {
	s := newShop(t, time.Minute)
	s.office.order("1", fleet.WorkerOrder{Tenant: "a", Slots: 2})
	s.until("a worker", func() bool { return len(s.all()) == 1 })
	first := s.all()[0]
	first.die()
	s.until("another", func() bool { return len(s.all()) == 2 })
	s.until("the server knows", func() bool {
		s.office.mu.Lock()
		defer s.office.mu.Unlock()
		for _, b := range s.office.beats {
			for _, name := range b.Ended {
				if name == first.name {
					return true
				}
			}
		}
		return false
	})
	// The second crash in a row is not followed by a start at once.
	began := time.Now()
	s.all()[1].die()
	s.until("a third", func() bool { return len(s.all()) == 3 })
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("started again after %s", took)
	}
}

func TestReplacedProvisionerRegistersAgain(t *testing.T) {
	s := newShop(t, time.Minute)
	s.office.order("1", fleet.WorkerOrder{Tenant: "a", Slots: 2})
	s.until("a worker", func() bool { return len(s.all()) == 1 })
	s.office.set(func() { s.office.err = &app.Error{Code: app.EStale, Reason: "replaced"} })
	s.until("another of a new registration", func() bool { return len(s.all()) == 2 })
	if hands := s.all(); hands[0].calls[0] != "stop" || hands[1].name[:3] != "p2:" {
		t.Errorf("%v, %s", hands[0].calls, hands[1].name)
	}
}

func TestDrainedProvisionerExits(t *testing.T) {
	s := newShop(t, time.Minute)
	s.office.order("1", fleet.WorkerOrder{Tenant: "a", Slots: 2})
	s.until("a worker", func() bool { return len(s.all()) == 1 })
	s.stop()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	last := s.office.beats[len(s.office.beats)-1]
	if !s.office.left || !last.Draining {
		t.Errorf("left %v, %+v", s.office.left, last)
	}
}

func TestStepsThatOutlastTheDrainAreReleased(t *testing.T) {
	s := newShop(t, 50*time.Millisecond)
	s.mu.Lock()
	s.busy = true
	s.mu.Unlock()
	s.office.order("1", fleet.WorkerOrder{Tenant: "a", Slots: 2})
	s.until("a worker", func() bool { return len(s.all()) == 1 })
	s.stop()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	if calls := s.all()[0].calls; len(calls) < 2 || calls[0] != "drain" || calls[1] != "stop" {
		t.Error(calls)
	}
}

func TestRevokedProvisionerExitsWithAnError(t *testing.T) {
	s := newShop(t, time.Minute)
	s.office.order("1", fleet.WorkerOrder{Tenant: "a", Slots: 2})
	s.until("a worker", func() bool { return len(s.all()) == 1 })
	s.office.set(func() { s.office.err = &app.Error{Code: app.EUnauthorized} })
	if err := s.ends(); app.CodeOf(err) != app.EUnauthorized {
		t.Error(err)
	}
	if calls := s.all()[0].calls; len(calls) == 0 || calls[0] != "stop" {
		t.Error(calls)
	}
}

package provisioner

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/jobs/internal/loop"
)

// forgetful is a server that replaces the first registration as soon as that has a worker.
type forgetful struct {
	mu         sync.Mutex
	registered int
	beats      map[string]int
	refused    []string
}

func (f *forgetful) Register(context.Context, fleet.Registration) (fleet.Registered, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.registered++
	return fleet.Registered{ID: fmt.Sprintf("r%d", f.registered)}, nil
}

func (f *forgetful) Beat(ctx context.Context, b fleet.Heartbeat) (fleet.Orders, error) {
	_ = loop.Pause(ctx, b.Wait)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.beats[b.ID]++
	for _, name := range b.Ended {
		if !strings.HasPrefix(name, execution.WorkerPrefix(b.ID)) {
			f.refused = append(f.refused, name)
			return fleet.Orders{}, app.Errorf(app.EForbidden, "Worker %s doesn't belong to this provisioner.", name)
		}
	}
	if b.ID == "r1" && f.beats["r1"] > 1 {
		return fleet.Orders{}, &app.Error{Code: app.EStale, Reason: "replaced", Message: "replaced"}
	}
	return fleet.Orders{Version: "1", Workers: []fleet.WorkerOrder{{Tenant: "t", Slots: 1}}}, nil
}

func (f *forgetful) Leave(context.Context, string) error { return nil }

// slow is a worker that ends so long after it was asked to.
type slow struct {
	takes time.Duration
	once  sync.Once
	done  chan struct{}
}

func (s *slow) Update(fleet.WorkerOrder) {}
func (s *slow) Drain()                   { s.Stop() }
func (s *slow) Stop()                    { s.once.Do(func() { time.AfterFunc(s.takes, func() { close(s.done) }) }) }
func (s *slow) Done() <-chan struct{}    { return s.done }

// A worker that ends only after its provisioner has registered again isn't reported under the new registration: the server
// would refuse every heartbeat from then on.
func TestWorkerOutlivesItsRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &forgetful{beats: map[string]int{}}
		var names []string
		p := &Provisioner{Server: server, DrainTime: time.Second, Log: slog.New(slog.DiscardHandler),
			Start: func(_ fleet.Registered, name string, _ fleet.WorkerOrder) (WorkerHandle, error) {
				names = append(names, name)
				w := &slow{done: make(chan struct{})}
				if len(names) == 1 {
					w.takes = 2 * stopWait
				}
				return w, nil
			}}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Minute, stop)
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
		if len(server.refused) > 0 {
			t.Errorf("%d heartbeats were refused: they named %s", len(server.refused), server.refused[0])
		}
		if len(names) != 2 || !strings.HasPrefix(names[1], "r2:") || server.registered != 2 {
			t.Errorf("workers %v of %d registrations, want one of each of two", names, server.registered)
		}
	})
}

package jobs_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution/executiontest"
	"muster/app/fleet"
	"muster/app/store"
	"muster/jobs/coordinator"
	fleetpage "muster/portal/fleet"
)

// waits counts the waits for cancels that are open, and how many began.
type waits struct {
	next            http.Handler
	open, most, all atomic.Int32
}

func (w *waits) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/cancel_signal") {
		w.next.ServeHTTP(rw, r)
		return
	}
	w.all.Add(1)
	n := w.open.Add(1)
	defer w.open.Add(-1)
	for most := w.most.Load(); n > most && !w.most.CompareAndSwap(most, n); most = w.most.Load() {
	}
	w.next.ServeHTTP(rw, r)
}

// cancelSignalServer returns a setup behind a server, which can be closed, and a worker that waits.
func cancelSignalServer(t *testing.T) (desk executiontest.Setup, s *store.Store, api *fleetpage.WorkerAPI, seen *waits, worker func(tenant string) (app.WorkerID, *coordinator.Remote)) {
	t.Helper()
	desk, s, r := newCoordinator(t)
	api = fleetpage.NewWorkerAPI(desk.Services.Fleet.Registries, slog.New(slog.DiscardHandler), nil)
	seen = &waits{next: api}
	server := httptest.NewTLSServer(seen)
	client := coordinator.NewHTTP(&tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	t.Cleanup(func() { client.CloseIdleConnections(); api.Close(); server.Close() })
	return desk, s, api, seen, func(tenant string) (app.WorkerID, *coordinator.Remote) {
		l, err := s.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		shares := []fleet.Share{{Provisioner: desk.Provisioner, Tenant: "t1", Slots: 3}, {Provisioner: desk.Provisioner, Tenant: "t2", Slots: 3}}
		if _, err := s.Share(t.Context(), l.Version, shares); err != nil {
			t.Fatal(err)
		}
		orders, err := r.Beat(t.Context(), fleet.Heartbeat{ID: desk.Provisioner})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range orders.Workers {
			if w.Tenant == tenant {
				return app.WorkerID{Tenant: tenant, Name: fleet.NewWorkerName(desk.Provisioner)},
					&coordinator.Remote{URL: server.URL, Token: func() string { return w.Token }, HTTP: client}
			}
		}
		t.Fatalf("no worker is ordered for %s", tenant)
		return app.WorkerID{}, nil
	}
}

func cancelOne(t *testing.T, desk executiontest.Setup, s *store.Store, tenant, name string) {
	t.Helper()
	n := apptest.NewCluster(tenant, name, 1, time.Now(), apptest.Chain(1))
	if _, err := s.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if _, err := desk.Services.Operation.Controls.CancelOperation(t.Context(), app.Actor{Tenant: tenant, User: "ada", Role: app.RoleAdmin}, n.Cluster.ID, 0, false); err != nil {
		t.Fatal(err)
	}
}

// isSignalled needs no short limit: there is no heartbeat here that could tell it later, and a wait whose time is over tells nothing.
func isSignalled(signal <-chan struct{}, within time.Duration) bool {
	select {
	case <-signal:
		return true
	case <-time.After(within):
		return false
	}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(hangs); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happened: " + what)
		}
	}
}

// settled begins a worker's waits, and returns what tells of a cancel after its first one, which always does.
func settled(t *testing.T, seen *waits, w app.WorkerID, r *coordinator.Remote) (signal <-chan struct{}, stop func()) {
	t.Helper()
	open, all := seen.open.Load(), seen.all.Load()
	signal, stop = r.CancelSignal(w)
	if !isSignalled(signal, hangs) {
		t.Fatal("the first wait did not tell what may have been cancelled before it")
	}
	until(t, "it waits again", func() bool { return seen.open.Load() == open+1 && seen.all.Load() >= all+2 })
	return signal, stop
}

func TestCancelReachesAWorkerOverHTTPSAtOnce(t *testing.T) {
	desk, s, _, seen, worker := cancelSignalServer(t)
	w, r := worker("t1")
	signal, stop := settled(t, seen, w, r)
	defer stop()
	other, server := worker("t2")
	notSignalled, stopOther := settled(t, seen, other, server)
	defer stopOther()
	seen.all.Store(0)
	for i, name := range []string{"one", "two", "three"} { // the later ones may come while no one waits
		cancelOne(t, desk, s, "t1", name)
		if !isSignalled(signal, hangs) {
			t.Fatalf("cancel %d didn't arrive", i+1)
		}
	}
	if isSignalled(notSignalled, 0) {
		t.Error("a worker of another tenant was woken")
	}
	if n := seen.most.Load(); n > 2 {
		t.Errorf("two workers had %d waits open", n)
	}
	if n := seen.all.Load(); n > 2*3+2 {
		t.Errorf("two workers and three cancels made %d waits", n)
	}
}

// A worker is between two waits for a moment; what is cancelled then arrives with the next one.
func TestCancelBetweenTwoWaitsIsKept(t *testing.T) {
	desk, s, _, seen, worker := cancelSignalServer(t)
	w, r := worker("t1")
	_, stop := settled(t, seen, w, r)
	stop()
	until(t, "it waits no more", func() bool { return seen.open.Load() == 0 })
	cancelOne(t, desk, s, "t1", "one")
	signal, stop := r.CancelSignal(w)
	defer stop()
	if !isSignalled(signal, hangs) {
		t.Error("it was forgotten")
	}
}

func TestServerThatStopsEndsTheWaits(t *testing.T) {
	_, _, api, seen, worker := cancelSignalServer(t)
	w, r := worker("t1")
	_, stop := r.CancelSignal(w)
	defer stop()
	awaited := make(chan struct{})
	go func() { defer close(awaited); _, _ = r.AwaitWork(context.WithoutCancel(t.Context()), w, 0) }()
	until(t, "it waits", func() bool { return seen.open.Load() == 1 })
	api.Close()
	if !isSignalled(awaited, hangs) {
		t.Error("a worker still waits for work")
	}
	until(t, "the wait ends", func() bool { return seen.open.Load() == 0 })
	before := seen.all.Load()
	time.Sleep(500 * time.Millisecond)
	if n := seen.all.Load() - before; n > 1 {
		t.Errorf("a worker asked %d times in half a second while the server stops", n)
	}
}

func TestSecondWaitOfAWorkerEndsTheFirst(t *testing.T) {
	_, _, _, seen, worker := cancelSignalServer(t)
	w, r := worker("t1")
	for n := int32(1); n <= 2; n++ {
		_, stop := r.CancelSignal(w)
		defer stop()
		until(t, "one waits", func() bool { return seen.all.Load() >= n && seen.open.Load() == 1 })
	}
}

func TestWaitOfAWorkerThatTheTokenIsNotForIsRefused(t *testing.T) {
	_, _, _, seen, worker := cancelSignalServer(t)
	w, r := worker("t1")
	_, stop := settled(t, seen, w, r)
	defer stop()
	before := seen.all.Load()
	w.Name = fleet.NewWorkerName("another provisioner")
	_, stranger := r.CancelSignal(w)
	defer stranger()
	until(t, "it asks", func() bool { return seen.all.Load() > before })
	until(t, "a name that the token is not for is refused", func() bool { return seen.open.Load() == 1 })
}

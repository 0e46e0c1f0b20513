package jobs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/execution/executiontest"
	"muster/app/fleet"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/jobs/coordinator"
	fleetpage "muster/portal/fleet"
)

// newBatcher returns an app on a store of its own, with one provisioner registered.
func newCoordinator(t *testing.T) (executiontest.Setup, *store.Store, fleet.Registry) {
	t.Helper()
	s := storetest.Open(t)
	a := appall.New(appall.Config{Store: s, Now: time.Now, Catalog: executiontest.SuiteCatalog})
	token, err := a.Fleet.Provisioners.CreateProvisionerToken(t.Context(), app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}, "test", fleet.AnyProvisionerGrant())
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Fleet.Registries.RegistryOfToken(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := r.Register(t.Context(), fleet.Registration{Name: "h1", Slots: 9})
	if err != nil {
		t.Fatal(err)
	}
	return executiontest.Setup{Services: a, Provisioner: reg.ID, Of: func(tenant string) execution.Coordinator { return a.Fleet.Registries.CoordinatorOf(reg.ID, tenant) }}, s, r
}

// lossy loses the answers to some messages on their way.
type lossy struct {
	next http.RoundTripper
	lose func(path string) bool
}

func (l lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if err == nil && l.lose != nil && l.lose(r.URL.Path) {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return resp, err
}

// overHTTPS lets workers reach the coordinator over TLS, with the tokens that the server returns them.
func overHTTPS(t *testing.T, lose func(path string) bool) (executiontest.Setup, *store.Store, *httptest.Server) {
	t.Helper()
	batcher, s, r := newCoordinator(t)
	server := httptest.NewTLSServer(fleetpage.NewWorkerAPI(batcher.Services.Fleet.Registries, slog.New(slog.DiscardHandler), nil))
	client := coordinator.NewHTTP(&tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	client.Transport = lossy{client.Transport, lose}
	t.Cleanup(func() { client.CloseIdleConnections(); server.Close() })
	batcher.Of = func(tenant string) execution.Coordinator {
		l, err := s.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Share(t.Context(), l.Version, []fleet.Share{{Provisioner: batcher.Provisioner, Tenant: tenant, Slots: 3}}); err != nil || !ok {
			t.Fatal(ok, err)
		}
		orders, err := r.Beat(t.Context(), fleet.Heartbeat{ID: batcher.Provisioner})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range orders.Workers {
			if w.Tenant == tenant {
				return &coordinator.Remote{URL: server.URL, Token: func() string { return w.Token }, HTTP: client}
			}
		}
		t.Fatalf("no worker is ordered for %s: %+v", tenant, orders)
		return nil
	}
	return batcher, s, server
}

func TestCoordinatorInProcess(t *testing.T) {
	executiontest.CoordinatorSuite(t, func(t *testing.T) (executiontest.Setup, *store.Store) {
		batcher, s, _ := newCoordinator(t)
		return batcher, s
	})
}

func TestCoordinatorOverHTTPS(t *testing.T) {
	t.Parallel()
	executiontest.CoordinatorSuite(t, func(t *testing.T) (executiontest.Setup, *store.Store) {
		batcher, s, _ := overHTTPS(t, nil)
		return batcher, s
	})
}

func TestLostClaimResponseLosesNoStep(t *testing.T) {
	var lost atomic.Int32
	batcher, s, _ := overHTTPS(t, func(path string) bool { return strings.HasSuffix(path, "/claim") && lost.Add(1) <= 2 })
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster("t1", "c", 3, time.Now(), apptest.Chain(3))); err != nil {
		t.Fatal(err)
	}
	all, err := batcher.Of("t1").Claim(t.Context(), app.WorkerID{Tenant: "t1", Name: fleet.NewWorkerName(batcher.Provisioner)}, 9)
	if err != nil || len(all) != 3 || all[0].Fence.Attempt != 1 {
		t.Fatalf("%d steps: %v", len(all), err)
	}
}

func TestAwaitWorkOverHTTPS(t *testing.T) {
	batcher, s, _ := overHTTPS(t, nil)
	c := batcher.Of("t1").(execution.WorkWaiter)
	got := make(chan bool, 1)
	go func() {
		some, _ := c.AwaitWork(context.WithoutCancel(t.Context()), app.WorkerID{Tenant: "t1", Name: fleet.NewWorkerName(batcher.Provisioner)}, 0)
		got <- some
	}()
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster("t1", "c", 1, time.Now(), apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	if !<-got {
		t.Error("there is work, and no one was woken")
	}
}

func TestWorkerAPIRejectsInvalidRequests(t *testing.T) {
	batcher, _, server := overHTTPS(t, nil)
	token := batcher.Of("t1").(*coordinator.Remote).Token()
	for name, c := range map[string]struct {
		path, token, body, coding string
		status                    int
	}{
		"no token":                {path: "claim", body: "{}", status: http.StatusUnauthorized},
		"a wrong token":           {path: "claim", token: "mw_e30.e30", body: "{}", status: http.StatusUnauthorized},
		"a worker that registers": {path: "register", token: token, body: "{}", status: http.StatusUnauthorized},
		"no message":              {path: "claim", token: token, body: "", status: http.StatusBadRequest},
		"not gzip":                {path: "claim", token: token, body: "{}", coding: "gzip", status: http.StatusBadRequest},
		"another coding":          {path: "claim", token: token, body: "{}", coding: "br", status: http.StatusUnprocessableEntity},
		"another tenant":          {path: "claim", token: token, body: `{"worker":{"tenant":"t2","name":"x"},"nonce":"n"}`, status: http.StatusForbidden},
		"too much":                {path: "claim", token: token, body: `{"nonce":"` + strings.Repeat("n", 9<<20) + `"}`, status: http.StatusRequestEntityTooLarge},
		"no such thing":           {path: "nothing", token: token, body: "{}", status: http.StatusNotFound},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+fleetpage.WorkerPath+c.path, bytes.NewReader([]byte(c.body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		req.Header.Set("Content-Encoding", c.coding)
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
	server.Client().CloseIdleConnections()
}

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/layout"
	"muster/portal/client"
)

func ExampleNew() {
	c, err := client.New(client.Settings{URL: "https://muster.example.com", Token: "from your vault"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(ctx context.Context) (cluster.Answer, error) {
		return c.Clusters.Create(ctx, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "web", Size: 5}})
	}
	_ = ask // answer.Cluster is the cluster; where people approve first it is nil, and answer.Request waits for them
	fmt.Println(c.Settings().URL)
	// Output: https://muster.example.com
}

// talking returns a client of a server that answers so.
func talking(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	c, err := client.New(client.Settings{URL: srv.URL + "/", Token: "let-me-in"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSettingsThatCannotBeRight(t *testing.T) {
	for _, s := range []client.Settings{{URL: "example"}, {URL: "ftp://example.com"}, {}, {URL: "https://example.com", CA: "sha256:12"}} {
		if _, err := client.New(s); app.CodeOf(err) != app.EInvalid {
			t.Errorf("New(%+v) returns %v", s, err)
		}
	}
}

func TestWhoAsks(t *testing.T) {
	c := talking(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/clusters/a b" || r.Header.Get("Authorization") != "Bearer let-me-in" || r.Header.Get("Muster-Tenant") != "blue" {
			t.Errorf("asked %s with %v", r.URL.Path, r.Header)
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"name": "a b"})
	})
	c.ActIn = "blue"
	v, err := c.Clusters.Get(t.Context(), "a b")
	if err != nil || v.Name != "a b" {
		t.Errorf("got %q, %v", v.Name, err)
	}
}

func TestRefusal(t *testing.T) {
	c := talking(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"title":"Too many","detail":"Too many at once","code":"rate_limit","hint":"Wait."}`))
	})
	_, err := c.Tenants.List(t.Context())
	var e *app.Error
	if !errors.As(err, &e) || e.Code != app.ERateLimit || e.Message != "Too many at once" || e.Hint != "Wait." || e.RetryAfter != 7*time.Second {
		t.Errorf("got %+v", err)
	}
}

// What changes something is sent again where the answer was lost, under the key of the first time.
func TestLostAnswer(t *testing.T) {
	var asked atomic.Int32
	var key atomic.Value
	c := talking(t, func(w http.ResponseWriter, r *http.Request) {
		k := r.Header.Get("Idempotency-Key")
		if asked.Add(1) == 1 {
			key.Store(k)
			panic(http.ErrAbortHandler)
		}
		if k == "" || k != key.Load() {
			t.Errorf("sent again with the key %q after %q", k, key.Load())
		}
		_ = json.NewEncoder(w).Encode(identity.Group{Name: "data"})
	})
	g, err := c.Groups.Save(t.Context(), identity.GroupChange{Name: "data"})
	if err != nil || g.Name != "data" || asked.Load() != 2 {
		t.Errorf("got %+v, %v after %d calls", g, err, asked.Load())
	}
}

func TestUnreachable(t *testing.T) {
	c, err := client.New(client.Settings{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Queues.Get(t.Context()); app.CodeOf(err) != app.ETransient {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Queues.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRenew(t *testing.T) {
	c := talking(t, func(http.ResponseWriter, *http.Request) {})
	if c.Renew() {
		t.Error("settings changed that cannot")
	}
	c.Reload = func() (client.Settings, error) { return client.Settings{URL: "http://127.0.0.1:2", Token: "new"}, nil }
	if !c.Renew() || c.Renew() || c.Settings().Token != "new" {
		t.Error("the settings are not the reloaded ones")
	}
}

// Nouns are fields that New sets; one that it forgot would be found only by who calls it.
func TestNewSetsEveryNoun(t *testing.T) {
	c, err := client.New(client.Settings{URL: "https://muster.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for v, i := reflect.ValueOf(c).Elem(), 0; i < v.NumField(); i++ {
		if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() == reflect.Pointer && v.Field(i).IsNil() {
			t.Errorf("New doesn't set %s", f.Name)
		}
	}
}

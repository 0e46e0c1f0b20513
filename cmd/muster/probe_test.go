package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"muster/cmd/muster/server"
)

func TestProbes(t *testing.T) {
	var database, queue error
	asked := 0
	p := &server.Probe{Database: func(context.Context) error { asked++; return database }, Queue: func(context.Context) error { return queue }}
	mux := http.NewServeMux()
	p.Serve(mux)
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	expect := func(path string, status int, words string) {
		t.Helper()
		if s, b := get(path); s != status || b != words {
			t.Errorf("%s: %d %q, want %d %q", path, s, b, status, words)
		}
	}
	again := func() { p.Asked = time.Time{} }
	expect("/readyz", 200, "database: ok\nqueue: ok\n")
	for range 100 {
		get("/readyz")
	}
	if asked != 1 {
		t.Errorf("the database was asked %d times within a second", asked)
	}
	queue = errors.New("dial tcp 10.0.0.9:6379: refused")
	again()
	expect("/readyz", 200, "database: ok\nqueue: unreachable\n")
	database = context.DeadlineExceeded
	again()
	expect("/readyz", 503, "database: no response within 2 s\nqueue: unreachable\n")
	expect("/livez", 200, "ok\n")
	database, queue = nil, nil
	again()
	p.Leaving.Store(true)
	expect("/readyz", 503, "server: stopping\n")
	expect("/livez", 200, "ok\n")
}

// A real server has both, without a token.
func TestServerAnswersProbes(t *testing.T) {
	m := newMatrix(t)
	for path, want := range map[string]string{"/livez": "ok\n", "/readyz": "database: ok\nqueue: ok\n"} {
		w := httptest.NewRecorder()
		m.server.HTTP.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d %q", path, w.Code, w.Body.String())
		}
	}
}

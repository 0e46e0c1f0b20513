package main

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/cmd/muster/server"
)

// After the secret key was lost and declared lost, every page and every read of the API still answers, and a cluster can be deleted.
func TestLostKeyBreaksNoPage(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	start := func() *server.Server {
		s, err := server.New(context.WithoutCancel(t.Context()), server.Config{Data: data, Listen: "127.0.0.1:0",
			Catalogs: []string{"../../examples/catalog"}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := start()
	n := apptest.NewCluster(here, "old", 2, time.Now(), apptest.Chain(2))
	n.Cluster.Owner, n.Definition.Config = "v-admin", map[string]any{"motto": "lost"}
	op, err := s.Store.CreateCluster(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "secret.key"), []byte(strings.Repeat("07", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(data, "muster.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`DELETE FROM settings WHERE name = 'key_check'`, `UPDATE clusters SET status = 'active'`,
		`UPDATE operations SET status = 'succeeded', ended_at = started_at + 1`, `UPDATE steps SET state = 'succeeded'`,
		`UPDATE nodes SET status = 'ready', addresses = '{"access_v4":"127.0.0.9"}'`} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	_ = db.Close()

	s = start()
	defer s.Close()
	f := &foreign{matrix: &matrix{t: t, server: s}, values: map[string][]string{}}
	f.knows("clusters", n.Cluster.ID)
	f.knows("operations", "0")
	f.knows("nodes", "n1")
	f.knows("catalog", "web")
	rnd := rand.New(rand.NewPCG(1, 1)) // of one value each
	site := httptest.NewServer(s.HTTP.Handler)
	defer site.Close()
	v := f.visitor(site.URL, here, app.RoleAdmin)
	read := 0
	for _, r := range s.Portal.Routes() {
		if r.Method != http.MethodGet || !strings.Contains(r.Pattern, "/clusters") {
			continue
		}
		path := f.fill(r.Pattern, rnd, false)
		status, body := f.ask(v, site.URL, r.Method, path, true)
		if read++; status >= 500 {
			t.Errorf("%s answers %d: %.300s", path, status, body)
		}
	}
	for _, path := range []string{"/clusters/" + n.Cluster.ID, "/api/v1/clusters/" + n.Cluster.ID, "/api/v1/clusters"} {
		if status, body := f.ask(v, site.URL, http.MethodGet, path, false); status != http.StatusOK || !strings.Contains(body, "old") {
			t.Errorf("%s answers %d: %.300s", path, status, body)
		}
	}
	if status, body := f.ask(v, site.URL, http.MethodGet, "/api/v1/clusters/"+n.Cluster.ID+"/config", false); status != http.StatusConflict || !strings.Contains(body, "can only be deleted") {
		t.Errorf("the configuration answers %d: %s", status, body)
	}
	if _, err := s.Services.Cluster.Deletes.DeleteCluster(t.Context(), v.actor, n.Cluster.ID); err != nil {
		t.Error(err)
	}
	t.Logf("%d routes read, none broken; operation %d", read, op.ID)
}

package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/store"
	apptemplate "muster/app/template"
)

// Someone lost the secret key for good: what was sealed with it does not open, but that holds up no other cluster, and
// machines can still be given back.
func TestLostKeyBlocksNoOtherWrites(t *testing.T) {
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "muster.db")
	old, err := store.Open(ctx, file, bytes.Repeat([]byte{1}, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	if _, err := old.CreateCluster(ctx, apptest.NewCluster("t", "old", 1, at, apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	_ = old.Close()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `DELETE FROM settings WHERE name = 'key_check'`); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()

	s, err := store.Open(ctx, file, bytes.Repeat([]byte{2}, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateCluster(ctx, apptest.NewCluster("t", "young", 1, at, apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	catalog := apptemplate.NewCatalog()
	catalog.Providers["cloud"] = &apptemplate.ProviderSpec{About: apptemplate.About{Name: "cloud"}, Type: "fake"}
	a := all.New(all.Config{Store: s, Now: time.Now, Catalog: func() *apptemplate.Catalog { return catalog }})
	if as := claim(ctx, t, a); as == nil || as.Cluster.Name != "young" {
		t.Fatalf("the other cluster's step is not handed out: %+v", as)
	}
	steps, err := s.Steps(ctx, "t", 1)
	if err != nil {
		t.Fatal(err)
	}
	if text := steps[0].Error; text == "" || strings.Contains(text, "sealed") {
		t.Errorf("people are notified %q", text)
	}
	// Its configuration is lost too, but it is still shown, so that it can be deleted.
	if _, err := s.Definition(ctx, "t", "old-1"); !app.IsKeyLost(err) {
		t.Errorf("its configuration: %v", err)
	}
	if v, err := a.Cluster.Views.Cluster(ctx, app.Actor{Tenant: "t", User: "ada", Role: app.RoleAdmin}, "old-1"); err != nil || v.Name != "old" {
		t.Errorf("it is not shown: %+v, %v", v.Cluster, err)
	}
	if _, err := s.SubmitOperation(ctx, cluster.NewOperation{Plan: apptest.Remove(1), Cancel: true, Operation: app.Operation{Tenant: "t",
		Cluster: "old-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: at}}); err != nil {
		t.Fatal(err)
	}
	if as := claim(ctx, t, a); as == nil || as.Action != app.ActionDelete || as.Cluster.Name != "old" {
		t.Errorf("deletion is not handed out: %+v", as)
	}
}

// claim asks as a worker does, to which an error is one wasted dispatch.
func claim(ctx context.Context, t *testing.T, a *all.Services) *execution.Assignment {
	t.Helper()
	for range 5 {
		as, err := a.Execution.Coordinator.Claim(ctx, app.WorkerID{Tenant: "t", Name: "w"}, 1)
		if len(as) > 0 {
			return as[0]
		}
		t.Log(err)
	}
	return nil
}

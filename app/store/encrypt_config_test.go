package store_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/storetest"
)

func motto(text string) cluster.Definition {
	return cluster.Definition{Config: map[string]any{"motto": text}, Parameters: map[string]any{"colour": text}}
}

// configured stores configuration in every place that can hold it.
func configured(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		c := apptest.NewCluster("t", fmt.Sprintf("c%03d", i), 1, time.Now(), plan.Plan{})
		c.Definition.Config = map[string]any{"motto": "planted-create"}
		op, err := s.CreateCluster(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		d := c.Definition
		d.Config = map[string]any{"motto": "planted-change"}
		now := c.Cluster
		if _, err := s.SubmitOperation(t.Context(), cluster.NewOperation{Plan: plan.Plan{Kind: app.OperationReconfigure}, Follows: op.ID,
			Change:    &cluster.Change{Template: now.Template, Definition: d, Size: now.Size, Services: now.Services},
			Operation: app.Operation{Tenant: "t", Cluster: now.ID, Kind: app.OperationReconfigure, Requester: "ada", CreatedAt: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		asked := cluster.CreateRequest{Name: fmt.Sprintf("r%03d", i), Parameters: map[string]any{"colour": "planted-asked"}}
		if _, err := s.SaveRequest(t.Context(), cluster.NewRequest{Who: admin, Kept: &cluster.RequestPayload{Request: asked, Definition: motto("planted-kept")},
			Request: cluster.Request{Tenant: "t", Kind: app.OperationCreate, Requester: "ada", Owner: "ada", RequestedAt: time.Now(), Status: cluster.RequestWaiting, Spec: asked,
				Terms: cluster.Terms{Updated: &cluster.UpdateTerms{Changes: []app.ValueChange{{Path: "config.motto", Before: "planted-before", After: "planted-after"}}}}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkConfigured reads what configured stored.
func checkConfigured(t testing.TB, s *store.Store, n int) {
	t.Helper()
	clusters, err := s.Clusters(t.Context(), "t", app.ClusterFilter{Limit: 1000})
	if err != nil || len(clusters) != n {
		t.Fatalf("%d clusters, %v", len(clusters), err)
	}
	for _, c := range clusters {
		d, err := s.Definition(t.Context(), "t", c.ID)
		if err != nil || d.Config["motto"] != "planted-change" {
			t.Fatalf("%s: %v, %v", c.ID, d.Config, err)
		}
		ops, err := s.Operations(t.Context(), "t", c.ID)
		if err != nil || len(ops) != 2 {
			t.Fatal(ops, err)
		}
		before, after, err := s.ChangeOf(t.Context(), "t", ops[0].ID)
		if err != nil || before.Definition.Config["motto"] != "planted-create" || after.Definition.Config["motto"] != "planted-change" {
			t.Fatalf("%s: %v, then %v, %v", c.ID, before.Definition.Config, after.Definition.Config, err)
		}
	}
	requests, err := s.Requests(t.Context(), "t", cluster.RequestFilter{Limit: 1000})
	if err != nil || len(requests) != n {
		t.Fatalf("%d requests, %v", len(requests), err)
	}
	for _, r := range requests {
		k, err := s.RequestPayload(t.Context(), "t", r.ID)
		if err != nil || k.Definition.Config["motto"] != "planted-kept" || r.Spec.Parameters["colour"] != "planted-asked" || r.Terms.Updated.Changes[0].After != "planted-after" {
			t.Fatalf("request %d: %+v, %+v, %v", r.ID, r.Spec, k, err)
		}
	}
}

// noConfig searches every value of every table for configuration.
func noConfig(t testing.TB, where string) {
	t.Helper()
	snapshot, err := db.OpenSnapshot(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	for _, table := range snapshot.Tables {
		if err := snapshot.Rows(t.Context(), table, func(row []any) error {
			for i, v := range row {
				if strings.Contains(fmt.Sprintf("%s", v), "planted-") {
					t.Errorf("%s.%s holds %.200s", table.Name, table.Columns[i].Name, v)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func noBytes(t testing.TB, file string) {
	t.Helper()
	all, err := filepath.Glob(file + "*")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte("planted-")); i >= 0 {
			t.Errorf("%s holds %q", filepath.Base(name), b[i:min(len(b), i+40)])
		}
	}
}

// configIsSealed checks that no table holds configuration in plaintext, and that key rotation re-encrypts it.
func configIsSealed(t *testing.T, where string, k db.KeyKeeper) {
	const n = 5
	s := openBy(t, where, k)
	configured(t, s, n)
	noConfig(t, where)
	checkConfigured(t, s, n)
	if lost, err := s.RotateKeys(t.Context(), func(int, int) {}); err != nil || lost != 0 {
		t.Fatal(lost, err)
	}
	if _, others, _ := under(t, s); others != 0 {
		t.Errorf("%d values are under the old key", others)
	}
	checkConfigured(t, s, n)
}

func TestConfigurationIsNotInTheFile(t *testing.T) {
	file := storetest.File(t)
	k := suiteKeeper(t)
	configIsSealed(t, file, k)
	noBytes(t, file) // the write-ahead log too
}

// suiteKeeper is the key that the template of fresh databases was made with.
func suiteKeeper(t testing.TB) db.KeyKeeper {
	t.Helper()
	k, err := db.LocalKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// inClear puts the plaintext from before migration 54 back, except in the first rows: as if sealing was interrupted.
func inClear(t testing.TB, exec func(query string)) {
	t.Helper()
	d := `{"config":{"motto":"planted-change"}}`
	old := `{"config":{"motto":"planted-create"}}`
	for _, q := range []string{
		`UPDATE clusters SET encrypted_definition = x'', definition = '` + d + `' WHERE name > 'c002'`,
		`UPDATE operation_changes SET encrypted_definition = x'', definition = '` + old + `' WHERE cluster > 'c002'`,
		`UPDATE requests SET encrypted_spec = x'', spec = '{"parameters":{"colour":"planted-asked"}}' WHERE name > 'r001'`,
		`UPDATE requests SET encrypted_terms = x'', terms = '{"plan_hash":"","layout":{"provider":""},"updated":{"changes":[{"path":"config.motto","before":"planted-before","after":"planted-after"}]}}' WHERE name > 'r003'`,
		`UPDATE requests SET encrypted_payload = x'', payload = '{"definition":{"config":{"motto":"planted-kept"}}}' WHERE name > 'r002'`,
	} {
		exec(q)
	}
}

// oldConfigIsSealed opens a database with plaintext configuration with several servers at once.
func oldConfigIsSealed(t *testing.T, where string, k db.KeyKeeper, n int) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := store.OpenWith(t.Context(), where, k)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	noConfig(t, where)
	checkConfigured(t, openBy(t, where, k), n)
}

func TestOldConfigurationIsEncrypted(t *testing.T) {
	const n = 230 // more than are sealed in one transaction
	file := storetest.File(t)
	k := suiteKeeper(t)
	s := openBy(t, file, k)
	configured(t, s, n)
	_ = s.Close()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	inClear(t, func(query string) {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(query, err)
		}
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	oldConfigIsSealed(t, file, k, n)
	noBytes(t, file)
}

// Sealed configuration that was moved to another cluster does not open there.
func TestConfigurationIsBoundToItsCluster(t *testing.T) {
	file := storetest.File(t)
	s := open(t, file)
	configured(t, s, 2)
	say(t, file, `UPDATE clusters SET encrypted_definition = (SELECT encrypted_definition FROM clusters WHERE name = 'c000') WHERE name = 'c001'`)
	all, err := s.Clusters(t.Context(), "t", app.ClusterFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if _, err := s.Definition(t.Context(), "t", c.ID); (err == nil) != (c.Name == "c000") {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

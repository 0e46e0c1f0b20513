package main

import (
	"compress/gzip"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"muster/app"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
)

// fixture makes a data directory as an older version has left it when it was killed: see deploy/ci/upgrade.sh, which wrote it (FIXTURE=).
func fixture(t *testing.T, from string) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Open(filepath.Join(from, "muster.sql.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(data, database.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(from, database.KeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(data, database.KeyFile), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", filepath.Join(from, "providers.tar.gz"), "-C", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return data
}

// This version finishes an operation of a killed older version, on the machines that one created.
func TestUpgradeInTheMiddleOfAnOperation(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tar"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tar is not here")
		}
		t.Skip("tar is not here")
	}
	catalog := t.TempDir()
	b, err := os.ReadFile("testdata/upgrade/catalog.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(catalog, "catalog.yaml"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, data: fixture(t, "testdata/upgrade"), catalog: []string{catalog}}
	c := &cli.Context{Stdin: nil, Stdout: io.Discard, Stderr: io.Discard, Data: p.data}
	before, _, err := database.Inspect(t.Context(), c)
	if err != nil || len(before.Pending) == 0 {
		t.Fatalf("the fixture is not older: %+v, %v", before, err)
	}
	t.Cleanup(p.tidy)
	began := time.Now()
	p.start()
	list, err := p.client().Clusters.List(t.Context(), app.ClusterFilter{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]app.ClusterSummary{}
	for _, c := range list {
		ids[c.Name] = c
	}
	if got := ids["standing"].Status; got != app.ClusterActive {
		t.Errorf("the existing cluster is %s", got)
	}
	if ids["going"].ID == "" {
		t.Fatal("the cluster that was being made is not there")
	}
	v := p.await(ids["going"].ID)
	if v.Status != app.ClusterActive {
		t.Fatalf("it ended as %s: %s\n%s", v.Status, v.Message, p.out)
	}
	done, again := 0, 0
	steps, err := p.client().Operations.Steps(t.Context(), v.ID, v.Operations[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.State != app.StepSucceeded {
			t.Errorf("%s is %s", s.ID, s.State)
		}
		if !s.EndedAt.IsZero() && s.EndedAt.Before(began) {
			done++
		} else if !s.Join {
			again++
		}
	}
	if done == 0 || again == 0 {
		t.Errorf("%d steps were done before, and %d after; the fixture is to be from the middle", done, again)
	}
}

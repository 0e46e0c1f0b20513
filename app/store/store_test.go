package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/identity"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/store/storetest/suite"

	"go.uber.org/goleak"
)

// atEnd is what the run of all tests leaves to be closed.
var atEnd []func() error

// ctxOfRun is for what outlives the test that asks for it first.
var ctxOfRun = context.Background()

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, end := range atEnd {
			if err := end(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

var key = bytes.Repeat([]byte{7}, store.KeySize)

func open(t testing.TB, file string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), file, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSQLite(t *testing.T) {
	suite.StoreSuite(t, func(t *testing.T) *store.Store { return open(t, storetest.File(t)) })
}

func TestSQLiteUpdates(t *testing.T) {
	suite.UpdateSuite(t, func(t *testing.T) *store.Store { return open(t, storetest.File(t)) })
}

func TestSecretsAreNotInTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "muster.db")
	s := open(t, file)
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster("t", "web", 2, time.Now(), apptest.Chain(2))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"muster.db", "muster.db-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, secret := range []string{"the cluster's private key", "host key of n1"} {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds %q in clear", name, secret)
			}
		}
	}
}

func TestWrongKeyIsRefused(t *testing.T) {
	file := storetest.File(t)
	_ = open(t, file).Close()
	other, err := store.Open(t.Context(), file, bytes.Repeat([]byte{8}, store.KeySize))
	if app.CodeOf(err) != app.EConflict {
		t.Errorf("a database opened with another key: %v", err)
	}
	if err == nil {
		_ = other.Close()
	}
	_ = open(t, file).Close() // the right one still does
}

func TestWritesShareCommitsButFailAlone(t *testing.T) {
	s := open(t, storetest.File(t))
	errs := make(chan error, 200)
	for i := range 200 {
		go func() {
			// Half of them want a name that is taken, in the same transaction as the others.
			u := identity.User{Tenant: "t", Name: string(rune('a'+i%100/10)) + string(rune('a'+i%10)), Role: app.RoleUser, CreatedAt: time.Now()}
			errs <- s.CreateUser(t.Context(), u)
		}()
	}
	ok, taken := 0, 0
	for range 200 {
		switch err := <-errs; app.CodeOf(err) {
		case "":
			ok++
		case app.EConflict:
			taken++
		default:
			t.Error(err)
		}
	}
	if ok != 100 || taken != 100 {
		t.Errorf("%d were written and %d refused, want 100 and 100", ok, taken)
	}
	if n, err := s.CountUsers(t.Context()); err != nil || n != 100 {
		t.Errorf("%d users (%v), want 100", n, err)
	}
}

func TestClosedStoreReturnsAnError(t *testing.T) {
	s := open(t, storetest.File(t))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.NextClusterNumber(t.Context()); app.CodeOf(err) != app.ETransient {
		t.Errorf("writing to a closed store returns %v", err)
	}
}

func BenchmarkSteps(b *testing.B) {
	benchmarkSteps(b, open(b, filepath.Join(b.TempDir(), "muster.db")))
}

func benchmarkSteps(b *testing.B, s *store.Store) {
	const nodes = 200
	done := 0
	for b.Loop() {
		if done%(4*nodes) == 0 {
			name := "c" + time.Now().Format("150405.000000000")
			if _, err := s.CreateCluster(b.Context(), apptest.NewCluster("t", name, nodes, time.Now(), apptest.Chain(nodes))); err != nil {
				b.Fatal(err)
			}
		}
		w := app.WorkerID{Tenant: "t", Name: "w"}
		cs, err := s.ClaimSteps(b.Context(), execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor})
		if err != nil || len(cs) != 1 {
			b.Fatal(cs, err)
		}
		c := cs[0]
		f := execution.Finish{Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}, Now: time.Now()}
		if done, err := s.FinishSteps(b.Context(), w, []execution.Finish{f}); err != nil || done[0].Err != nil {
			b.Fatal(done, err)
		}
		done++
	}
}

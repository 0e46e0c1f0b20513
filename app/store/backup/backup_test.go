package backup_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/store"
	"muster/app/store/backup"
	"muster/app/store/db"
	"muster/app/store/storetest"
)

var key = bytes.Repeat([]byte{7}, store.KeySize)

const (
	tenant = "t"
	quiet  = "q" // nothing happens in its cluster
)

func open(t testing.TB, where string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), where, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func take(t testing.TB, where string) []byte {
	t.Helper()
	s, err := db.OpenSnapshot(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b bytes.Buffer
	if _, err := backup.Take(t.Context(), &b, s, keeper(t, key), "test", time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func of(b []byte) backup.Opener {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

func keeper(t testing.TB, key []byte) db.KeyKeeper {
	t.Helper()
	k, err := db.LocalKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func restore(t testing.TB, b []byte, where string) db.Outcome {
	t.Helper()
	_, _, out, err := backup.Restore(t.Context(), of(b), where, db.Restored{Keeper: keeper(t, key), Now: time.Now(), Lease: 24 * time.Hour}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// whole fails where something in a database does not fit together.
func whole(t testing.TB, s *store.Store) {
	t.Helper()
	wrong, err := s.IntegrityErrors(t.Context())
	if err != nil || len(wrong) > 0 {
		t.Errorf("%v, %v", wrong, err)
	}
	if p, err := s.VerifyAudit(t.Context(), tenant); err != nil || !p.Intact {
		t.Errorf("the audit: %+v, %v", p, err)
	}
}

// act does a step as a worker would.
func act(ctx context.Context, s *store.Store, c *execution.ClaimedStep) (*execution.ClaimedStep, error) {
	f := execution.Finish{Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}, Now: time.Now(), ClaimFor: execution.ClaimFor}
	if c.Step.Action == app.ActionCreate {
		f.Node = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-" + c.Cluster.ID + c.Node.Name, Addresses: map[string]string{app.AddressAccess: "10.0.0.1"}}}
	}
	done, err := s.FinishSteps(ctx, app.WorkerID{Tenant: c.Cluster.Tenant, Name: c.Step.Worker}, []execution.Finish{f})
	if err != nil {
		return nil, err
	}
	if done[0].Err != nil {
		return nil, done[0].Err
	}
	return done[0].Next, nil
}

// bustle makes clusters and carries out their steps until it is stopped, from several sides at once. It makes no more clusters than it is allowed: on a
// busy host, a backup would else take longer the longer it takes, since it would find ever more.
func bustle(t testing.TB, s *store.Store, allowed *atomic.Int64) (stop func()) {
	ctx := t.Context()
	var wg sync.WaitGroup
	var ended atomic.Bool
	for i := range 3 {
		wg.Go(func() {
			for n := 0; !ended.Load(); n++ {
				if allowed.Add(-1) < 0 {
					allowed.Add(1)
					time.Sleep(time.Millisecond)
					continue
				}
				if _, err := s.CreateCluster(ctx, apptest.NewCluster(tenant, fmt.Sprintf("c%d-%d", i, n), 3, time.Now(), apptest.Chain(3))); err != nil {
					t.Error(err)
					return
				}
				if err := s.AddAuditEntry(ctx, app.AuditEntry{Tenant: tenant, At: time.Now(), Who: "ada", Act: "cluster.create", Object: fmt.Sprint(n)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
		wg.Go(func() {
			w := app.WorkerID{Tenant: tenant, Name: fmt.Sprintf("w%d", i)}
			for !ended.Load() {
				cs, err := s.ClaimSteps(ctx, execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor, Most: 4})
				if err != nil {
					t.Error(err)
					return
				}
				for _, c := range cs {
					for n := 0; c != nil && n < 5; n++ { // and now and then it lets one go
						if c, err = act(ctx, s, c); err != nil {
							t.Error(err)
							return
						}
					}
				}
			}
		})
	}
	return func() { ended.Store(true); wg.Wait() }
}

// story takes backups while a store is written to from all sides, and brings each into a place of its own: all that is there fits together.
func story(t *testing.T, from string, to func(*testing.T) string) {
	const between = 60 // clusters, from one backup to the next
	s := open(t, from)
	var allowed atomic.Int64
	allowed.Store(between)
	// Workers may finish all clusters of their tenant before a backup begins. That of the other tenant stays in progress.
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster(quiet, "quiet", 3, time.Now(), apptest.Chain(3))); err != nil {
		t.Fatal(err)
	}
	stop := bustle(t, s, &allowed)
	defer stop()
	var taken [][]byte
	for clusters := -1; len(taken) < 3; {
		list, err := s.Clusters(t.Context(), tenant, app.ClusterFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) >= clusters+10 { // something has happened since the one before
			clusters = len(list)
			allowed.Add(between)
			taken = append(taken, take(t, from))
		}
	}
	stop()
	for _, b := range taken {
		where := to(t)
		out := restore(t, b, where)
		back := open(t, where)
		whole(t, back)
		if out.Operations == 0 || out.Rows == 0 {
			t.Errorf("nothing was in progress: %+v", out)
		}
		goesOn(t, s, back)
	}
}

// goesOn carries what was in progress to its end, and shows that no number is given twice: neither to nodes nor to clusters.
func goesOn(t *testing.T, was, now *store.Store) {
	t.Helper()
	ctx := t.Context()
	if _, err := now.SweepSteps(ctx, time.Now()); err != nil {
		t.Fatal(err)
	}
	after, err := was.ClaimSteps(ctx, execution.ClaimQuery{Worker: app.WorkerID{Tenant: tenant, Name: "late"}, Now: time.Now(), For: execution.ClaimFor, Most: 1})
	if err != nil {
		t.Fatal(err)
	}
	carryOn(t, now, tenant)
	if carryOn(t, now, quiet) == 0 {
		t.Error("nothing continued")
	}
	whole(t, now)
	number, err := now.NextClusterNumber(ctx)
	if err != nil || number <= db.Ahead {
		t.Errorf("the next cluster has the number %d, %v", number, err)
	}
	op, err := now.CreateCluster(ctx, apptest.NewCluster(tenant, "later", 2, time.Now(), apptest.Chain(2)))
	if err != nil || op.ID <= db.Ahead || len(after) > 0 && op.ID <= after[0].Step.Operation {
		t.Errorf("the next operation has the number %d, %v", op.ID, err)
	}
}

// carryOn ends all steps of a tenant, and returns how many.
func carryOn(t *testing.T, s *store.Store, tenant string) (done int) {
	t.Helper()
	ctx := t.Context()
	w := app.WorkerID{Tenant: tenant, Name: "w"}
	for {
		cs, err := s.ClaimSteps(ctx, execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor, Most: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(cs) == 0 {
			return done
		}
		for _, c := range cs {
			if claims := c.Epoch & (1<<32 - 1); claims <= db.Ahead {
				t.Fatalf("the epoch of %s of operation %d may have been given out before: %d", c.Step.ID, c.Step.Operation, claims)
			}
			for ; c != nil; done++ {
				if c, err = act(ctx, s, c); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func sqliteFile(t *testing.T) string { return filepath.Join(t.TempDir(), "muster.db") }

func TestBackupDuringWrites(t *testing.T) { story(t, storetest.File(t), sqliteFile) }

// some is a database with one cluster, half made.
func some(t *testing.T) string {
	t.Helper()
	file := storetest.File(t)
	s := open(t, file)
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster(tenant, "web", 2, time.Now(), apptest.Chain(2))); err != nil {
		t.Fatal(err)
	}
	cs, err := s.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: app.WorkerID{Tenant: tenant, Name: "w"}, Now: time.Now(), For: execution.ClaimFor, Most: 1})
	if err != nil || len(cs) != 1 {
		t.Fatal(cs, err)
	}
	// What a program printed need not be text.
	st := cs[0].Step
	if err := s.AppendLogs(t.Context(), tenant, []app.LogLine{{At: time.Now(), Operation: st.Operation, Index: st.Index, Attempt: st.Attempt, Step: st.ID, Text: "not \xff text"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateUser(t.Context(), identity.User{Tenant: tenant, Name: "ada", Role: app.RoleUser, PasswordHash: "x", CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	ada := app.Actor{Tenant: tenant, User: "ada"}
	session, err := s.BeginSession(t.Context(), identity.Session{Tenant: tenant, User: "ada", At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	k := identity.SecondFactor{ID: "key", Kind: identity.FactorKey, Name: "key", Secret: []byte("public"), StartedAt: time.Now(), AddedAt: time.Now()}
	if _, err := s.AddFactor(t.Context(), ada, session, k, nil, [][]byte{identity.HashToken("one")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A backup of what was restored is the same, but for what a restore changes.
func TestRestoredRowsAreIdentical(t *testing.T) {
	rows := func(b []byte) map[string][]string {
		head, m, err := backup.Check(t.Context(), bytes.NewReader(b), keeper(t, key), false)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string][]string{}
		if err := backup.Rows(bytes.NewReader(b), head, m, func(table string, row []any) error {
			all[table] = append(all[table], fmt.Sprintf("%q", row))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, list := range all {
			slices.Sort(list)
		}
		return all
	}
	first := take(t, some(t))
	where := sqliteFile(t)
	restore(t, first, where)
	was, now := rows(first), rows(take(t, where))
	for _, table := range []string{"clusters", "nodes", "step_dependencies", "logs", "events", "data_keys", "users", "second_factors", "recovery_codes", "reservations", "step_durations"} {
		if !slices.Equal(was[table], now[table]) {
			t.Errorf("%s:\n%s\nbecame\n%s", table, strings.Join(was[table], "\n"), strings.Join(now[table], "\n"))
		}
	}
	if len(was["logs"]) != 1 || !strings.Contains(was["logs"][0], `\xff`) {
		t.Errorf("the log: %s", was["logs"])
	}
}

func TestBrokenBackupsAreRefused(t *testing.T) {
	b := take(t, some(t))
	refused := func(name string, b []byte) {
		t.Helper()
		where := sqliteFile(t)
		_, _, _, err := backup.Restore(t.Context(), of(b), where, db.Restored{Keeper: keeper(t, key), Now: time.Now()}, false, nil)
		if app.AsError(err).Reason != "bad_backup" {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(where)); len(left) > 0 {
			t.Errorf("%s: left behind is %v", name, left)
		}
	}
	for _, n := range []int{0, 10, len(b) / 3, len(b) - 1} {
		refused(fmt.Sprintf("cut after %d bytes", n), b[:n])
	}
	was := unpacked(b)
	for at := 20; at < len(b); at += len(b)/40 + 1 {
		other := slices.Clone(b)
		other[at] ^= 1
		if bytes.Equal(unpacked(other), was) { // gzip can say the same in several ways: about one change in a thousand is of that kind
			continue
		}
		refused(fmt.Sprintf("byte %d is another", at), other)
	}
}

// unpacked is what gzip makes of a file, nil where it refuses it.
func unpacked(b []byte) []byte {
	gz, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	all, err := io.ReadAll(gz)
	if err != nil {
		return nil
	}
	return all
}

func TestRestoreNeedsAnEmptyDatabase(t *testing.T) {
	file := some(t)
	b := take(t, file)
	_, _, _, err := backup.Restore(t.Context(), of(b), file, db.Restored{Keeper: keeper(t, key), Now: time.Now()}, false, nil)
	if app.AsError(err).Reason != "not_empty" {
		t.Errorf("a restore over an installation: %v", err)
	}
	where := sqliteFile(t)
	_, _, _, err = backup.Restore(t.Context(), of(b), where, db.Restored{Now: time.Now(), Keeper: keeper(t, bytes.Repeat([]byte{8}, store.KeySize))}, false, nil)
	if app.AsError(err).Reason != "wrong_key" {
		t.Errorf("a restore with another key: %v", err)
	}
	if _, err := os.Stat(where); err == nil {
		t.Error("a restore that was refused has left a database")
	}
}

// A restore that is called off in the middle leaves nothing.
func TestInterruptedRestoreLeavesNothing(t *testing.T) {
	b := take(t, some(t))
	where := sqliteFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	opened := 0
	_, _, _, err := backup.Restore(ctx, func() (io.ReadCloser, error) {
		if opened++; opened == 2 {
			cancel()
		}
		return of(b)()
	}, where, db.Restored{Keeper: keeper(t, key), Now: time.Now()}, false, nil)
	if err == nil {
		t.Fatal("it continued")
	}
	if left, _ := os.ReadDir(filepath.Dir(where)); len(left) > 0 {
		t.Errorf("left behind is %v", left)
	}
	restore(t, b, where)
	whole(t, open(t, where))
}

// Leases that ended meanwhile do not take the clusters with them at the first look.
func TestRestoreExtendsLeases(t *testing.T) {
	file := storetest.File(t)
	s := open(t, file)
	c := apptest.NewCluster(tenant, "web", 2, time.Now(), apptest.Chain(2))
	c.Cluster.ExpiresAt = time.Now().Add(-time.Hour)
	if _, err := s.CreateCluster(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	where := sqliteFile(t)
	if out := restore(t, take(t, file), where); out.Leases != 1 || out.Clusters != 1 {
		t.Errorf("%+v", out)
	}
	got, err := open(t, where).Cluster(t.Context(), tenant, "web-1")
	if err != nil || time.Until(got.ExpiresAt) < 23*time.Hour {
		t.Errorf("the lease ends %s, %v", got.ExpiresAt, err)
	}
}

package store_test

import (
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/observe"
	"muster/app/store"
	"muster/app/store/storetest"
)

// Every gauge of the list has a query. The server itself reads muster_redis_up.
func TestEveryGaugeHasAQuery(t *testing.T) {
	read := []*observe.Metric{observe.LevelQueueUp}
	for _, g := range open(t, storetest.File(t)).QueryMetrics(true, 0) {
		read = append(read, g.Metrics...)
		if _, err := g.Read(t.Context()); err != nil {
			t.Errorf("app/store/fleet/metrics_query.go: the query %q fails: %v", g.Name, err)
		}
	}
	for _, m := range observe.Levels {
		if !slices.Contains(read, m) {
			t.Errorf("%s has no query in app/store/fleet/metrics_query.go", m.Name)
		}
	}
}

func TestOldestQueued(t *testing.T) { oldestQueued(t, open(t, storetest.File(t))) }

// oldestQueued follows what provisioners are added by: it is the age of a step that any worker could take, never that of its operation.
func oldestQueued(t *testing.T, s *store.Store) {
	now := time.Now()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(when string, most, minutes int) {
		t.Helper()
		for _, g := range s.QueryMetrics(false, most) {
			if g.Name != "oldest" {
				continue
			}
			got, err := g.Read(t.Context())
			must(err)
			want := float64(60 * minutes)
			if len(got) != 1 || got[0].Value < want || got[0].Value > want+30 {
				t.Errorf("%s: %v, want %.0f seconds", when, got, want)
			}
		}
	}
	w := app.WorkerID{Tenant: "t", Name: "w"}
	claim := func(at time.Time) app.Fence {
		t.Helper()
		c, err := s.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: w, Now: at, For: time.Hour, Most: 1})
		must(err)
		if len(c) != 1 {
			t.Fatalf("%d steps were claimed", len(c))
		}
		return app.Fence{Operation: c[0].Step.Operation, Index: c[0].Step.Index, Attempt: c[0].Step.Attempt}
	}
	finish := func(f execution.Finish) {
		t.Helper()
		done, err := s.FinishSteps(t.Context(), w, []execution.Finish{f})
		must(err)
		if done[0].Err != nil {
			t.Fatal(done[0].Err)
		}
	}
	control := func(op int64, act app.ControlAct, at time.Time) {
		t.Helper()
		_, err := s.ControlOperation(t.Context(), app.Control{Tenant: "t", Operation: op, Act: act, Who: "ada", Now: at})
		must(err)
	}

	is("nothing is there", 0, 0)
	op, err := s.CreateCluster(t.Context(), apptest.NewCluster("t", "web", 1, ago(60), apptest.Chain(1)))
	must(err)
	is("its first step waits since it was asked for", 0, 60)
	f := claim(ago(50))
	is("that step is at work", 0, 0)
	finish(execution.Finish{Fence: f, Now: ago(40), Node: &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m"}}})
	is("the next one waits, of an operation that is older", 0, 40)
	control(op.ID, app.ControlPause, ago(35))
	is("the operation is paused", 0, 0)
	control(op.ID, app.ControlResume, ago(30))
	is("it continues", 0, 30)
	f = claim(ago(25))
	finish(execution.Finish{Fence: f, Now: ago(20), Err: app.Errorf(app.ETransient, "Not now."), Retry: app.Retry{Again: true, After: 19 * time.Minute}})
	is("it is tried again later", 0, 0)
	_, err = s.SweepSteps(t.Context(), now)
	must(err)
	is("its time has come", 0, 0)

	_, err = s.CreateCluster(t.Context(), apptest.NewCluster("t", "shop", 1, ago(15), apptest.Chain(1)))
	must(err)
	must(s.AddProvisioner(t.Context(), app.Provisioner{ID: "p", Name: "p", Slots: 8, State: app.ProvisionerActive, RegisteredAt: now, SeenAt: now}))
	l, err := s.Load(t.Context())
	must(err)
	if done, err := s.Share(t.Context(), l.Version, []fleet.Share{{Provisioner: "p", Tenant: "t", Slots: 3}}); !done || err != nil {
		t.Fatal(done, err)
	}
	is("there are slots of others", 0, 15)
	is("the tenant may have more slots", 4, 15)
	is("the tenant has all the slots it may have", 3, 0)
	must(s.CreateTenant(t.Context(), app.Actor{User: "root"}, identity.Tenant{Name: "t", Slots: 5, CreatedAt: now}, nil))
	is("it has a number of its own", 3, 15)
}

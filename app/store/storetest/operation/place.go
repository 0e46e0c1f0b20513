package operation

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/place"
	"muster/app/store/storetest/kit"
)

// placeSet is a request for so many places, all at the same provider.
func placeSet(n int) cluster.PlaceSet {
	s := cluster.PlaceSet{Order: layout.OrderListed}
	for i := range n {
		s.Candidates = append(s.Candidates, layout.Candidate{Place: layout.Place{Provider: "cloud", Zone: string(rune('a' + i))}, State: layout.CandidateReady})
		s.Payloads = append(s.Payloads, cluster.RequestPayload{PlanHash: "plan " + string(rune('a'+i))})
	}
	return s
}

func (t *storeTest) tryIn(name string, set cluster.PlaceSet, run string, at int) (cluster.NewCluster, error) {
	n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), apptest.Chain(1))
	n.TryIn(set, run, at)
	_, err := t.Store.CreateCluster(t.Ctx, n)
	return n, err
}

// places leaves a place without capacity once, and enters the next one once.
func (t *storeTest) places() {
	set := placeSet(3)
	n, err := t.tryIn("web", set, "", 0)
	t.Must(err)
	first := n.Cluster
	if due, err := t.Store.PlaceRunsDue(t.Ctx, 10); err != nil || len(due) > 0 {
		t.Fatalf("due before it has failed: %+v (%v)", due, err)
	}
	// A worker would wait for capacity; where another place is left, no one does.
	t.FailStepWith(t.Claim("w"), &app.Error{Code: app.ECapacity, Message: "full"}, app.Retry{Again: true, Elsewhere: true, After: time.Minute})
	t.Status(first.ID, app.ClusterFailed, app.OperationFailed)
	stock, err := t.Store.Stock(t.Ctx, kit.Tenant, t.Clock.Now().Add(-time.Hour))
	t.Must(err)
	if len(stock) != 1 || stock[layout.Place{Provider: first.Provider, Zone: n.Nodes[0].Node.Zone, Hardware: n.Nodes[0].Node.Hardware}].Full != "full" {
		t.Errorf("the stock is %+v", stock)
	}
	due, err := t.Store.PlaceRunsDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || due[0].Run != first.ID || due[0].Status != app.OperationFailed || len(due[0].Payloads) != 3 || due[0].Payloads[2].PlanHash != "plan c" {
		t.Fatalf("due is %+v", due)
	}
	m := place.Move{Run: first.ID, Tenant: kit.Tenant, Cluster: first.ID, Operation: due[0].Operation,
		Candidate: layout.CandidateFull, Reason: "full", Now: t.Clock.Now(), Act: "place.leave"}
	p := kit.Steps(app.OperationRollBack, "n1.delete")
	undo := cluster.NewOperation{Plan: p, Follows: due[0].Operation,
		Operation: app.Operation{Tenant: kit.Tenant, Cluster: first.ID, Kind: p.Kind, RollsBack: due[0].Operation, PlanHash: p.Hash(),
			Requester: app.Retrier, CreatedAt: t.Clock.Now()}}
	t.Must(t.Store.LeavePlace(t.Ctx, undo, m))
	t.Code(t.Store.LeavePlace(t.Ctx, undo, m), app.EConflict)
	// Until it is proven that nothing is left, there is nothing to do.
	if due, err := t.Store.PlaceRunsDue(t.Ctx, 10); err != nil || len(due) > 0 {
		t.Errorf("due while it is left: %+v (%v)", due, err)
	}
	t.Drain()
	t.Status(first.ID, app.ClusterDeleted, app.OperationSucceeded)
	due, err = t.Store.PlaceRunsDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || !due[0].Deleted || due[0].Kind != app.OperationRollBack || due[0].State != layout.PlacesLeaving {
		t.Fatalf("due is %+v", due)
	}
	// The second is refused, such as by a quota, and the third is entered once.
	m.Operation, m.Position, m.Candidate, m.Reason, m.Act = due[0].Operation, 1, layout.CandidateRefused, "quota", ""
	t.Must(t.Store.MarkPlace(t.Ctx, m))
	n, err = t.tryIn("again", set, first.ID, 2)
	t.Must(err)
	_, err = t.tryIn("more", set, first.ID, 2)
	if e := app.AsError(err); e.Reason != place.ReasonTaken {
		t.Errorf("the same place again: %v", err)
	}
	if err := t.Store.MarkPlace(t.Ctx, m); app.AsError(err).Reason != place.ReasonTaken {
		t.Errorf("a candidate is marked though another one is being tried: %v", err)
	}
	t.Drain()
	due, err = t.Store.PlaceRunsDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || due[0].Status != app.OperationSucceeded || due[0].Cluster != n.Cluster.ID {
		t.Fatalf("due is %+v", due)
	}
	end := place.Move{Run: first.ID, Tenant: kit.Tenant, Cluster: n.Cluster.ID, Operation: due[0].Operation, Position: 2, State: layout.PlacesDone,
		Candidate: layout.CandidateUsed, Now: t.Clock.Now()}
	t.Must(t.Store.EndPlaces(t.Ctx, end))
	t.Code(t.Store.EndPlaces(t.Ctx, end), app.EConflict)
	for _, id := range []string{first.ID, n.Cluster.ID} {
		got, err := t.Store.PlacesOf(t.Ctx, kit.Tenant, id)
		t.Must(err)
		if got.State != layout.PlacesDone || got.Current != n.Cluster.ID || got.Candidates[0].State != layout.CandidateFull ||
			got.Candidates[1].State != layout.CandidateRefused ||
			got.Candidates[2].State != layout.CandidateUsed || got.Candidates[0].Cluster != first.ID || got.Candidates[0].Reason != "full" {
			t.Errorf("the places of %s are %+v", id, got)
		}
	}
	if got, err := t.Store.PlacesOf(t.Ctx, "elsewhere", first.ID); err != nil || got != nil {
		t.Errorf("another tenant sees %+v (%v)", got, err)
	}
}

// placesEnd restores what was asked to happen on failures, once no other place is tried.
func (t *storeTest) placesEnd() {
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	n.TryIn(placeSet(2), "", 0)
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.CarryOut("n1.create")
	if due, err := t.Store.RollBacksDue(t.Ctx, 10); err != nil || len(due) > 0 {
		t.Errorf("it is rolled back by itself while another place is left: %+v (%v)", due, err)
	}
	due, err := t.Store.PlaceRunsDue(t.Ctx, 10)
	t.Must(err)
	t.Must(t.Store.EndPlaces(t.Ctx, place.Move{Run: due[0].Run, Tenant: kit.Tenant, Cluster: n.Cluster.ID, Operation: due[0].Operation, State: layout.PlacesEnded,
		Candidate: layout.CandidateFailed, Choice: due[0].Choice, Now: t.Clock.Now()}))
	if due, err := t.Store.RollBacksDue(t.Ctx, 10); err != nil || len(due) != 1 {
		t.Errorf("to be rolled back is %+v (%v)", due, err)
	}
}

package execution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"muster/app"
	"muster/app/all"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/health"
	"muster/app/store/storetest/kit"
)

// refusedByAll is what no database takes: PostgreSQL has no room in an index for such an id, and SQLite has no such price.
func refusedByAll() []app.Seen {
	var id strings.Builder
	for random := rand.New(rand.NewPCG(1, 2)); id.Len() < 20_000; {
		fmt.Fprintf(&id, "%x", random.Uint64())
	}
	return []app.Seen{{Kind: fleet.ResourceMachine, ID: id.String(), Price: math.NaN()}}
}

// reports: what a worker reports of a step is kept in one transaction, or not at all, and as long as the fence holds.
func (t *storeTest) reports() {
	t.Create("web", 2)
	claimed := map[string]*execution.ClaimedStep{}
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Step.Service == "" {
			t.Finish(c, false)
		} else {
			claimed[c.Node.Name] = c
		}
	}
	one, two := claimed["n1"], claimed["n2"]
	if one == nil || two == nil {
		t.Fatalf("in progress are %v", claimed)
	}
	a := all.New(all.Config{Store: t.Store, Now: t.Clock.Now})
	w := app.WorkerID{Tenant: kit.Tenant, Name: "w"}
	found := func(c *execution.ClaimedStep, what string) execution.Report {
		return execution.Report{Fence: kit.Fence(c), Action: c.Step.Action, Facts: map[string]string{"said": what}, Changes: &family.Changes{Texts: []string{what}},
			Contract: &health.NodeReport{At: t.Clock.Now(), Checks: []app.NodeCheck{{Name: "time", Level: health.NodeAdvised, Found: what}}}}
	}
	is := func(when string, want ...string) {
		t.Helper()
		var got []string
		nodes, err := t.Store.NodeReports(t.Ctx, kit.Tenant, "web-1", "", 10)
		t.Must(err)
		for _, r := range nodes {
			got = append(got, fmt.Sprintf("%s is %s", r.Node, r.Checks[0].Found))
		}
		facts, err := t.Store.FactList(t.Ctx, kit.Tenant, "web-1", 10)
		t.Must(err)
		for _, f := range facts {
			got = append(got, fmt.Sprintf("%s.%s said %s", f.Node, f.Service, f.Value))
		}
		changes, err := t.Store.ServiceChanges(t.Ctx, kit.Tenant, "web-1", 10)
		t.Must(err)
		for _, c := range changes {
			got = append(got, fmt.Sprintf("%s.%s would change %v", c.Node, c.Service, c.Changes.Texts))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: kept is %q, want %q", when, got, want)
		}
	}
	reported := func(w app.WorkerID, want app.Code, r execution.Report) {
		t.Helper()
		done, err := a.Execution.Coordinator.Report(t.Ctx, w, []execution.Report{r})
		t.Must(err)
		if done[0].Err == nil && want != "" || done[0].Err != nil && done[0].Err.Code != want {
			t.Errorf("the report is answered with %v, want %q", done[0].Err, want)
		}
	}
	other := found(one, "other")
	reported(app.WorkerID{Tenant: kit.Tenant, Name: "w2"}, app.EStale, other)
	reported(app.WorkerID{Tenant: "t2", Name: "w"}, app.EStale, other)
	other.Fence.Attempt++
	reported(w, app.EStale, other)
	is("of others")

	bad := found(one, "bad")
	bad.Seen = refusedByAll()
	if _, err := a.Execution.Coordinator.Report(t.Ctx, w, []execution.Report{bad}); err == nil {
		t.Fatal("a report was taken that no database takes")
	}
	is("after a report that failed in the middle")
	done, err := a.Execution.Coordinator.Report(t.Ctx, w, []execution.Report{bad, found(two, "good")})
	t.Must(err)
	if done[0].Err == nil || done[1].Err != nil {
		t.Errorf("a bad and a good report are answered with %v and %v", done[0].Err, done[1].Err)
	}
	good := []string{"n2 is good", "n2.a said good", "n2.a would change [good]"}
	is("beside a report that failed", good...)
	if _, _, _, err := t.Store.HeldStep(t.Ctx, w, kit.Fence(one)); err != nil {
		t.Errorf("the step whose report failed: %v", err)
	}

	// What a bootstrap found counts also where it failed.
	failed := found(one, "failed")
	failed.Err, failed.Retry = &app.Error{Code: app.EScript, Message: "it broke"}, app.Retry{Again: true}
	reported(w, "", failed)
	is("after a failure", "n1 is failed", good[0], good[1], good[2])
	next := map[string]*execution.ClaimedStep{}
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		next[c.Step.ID] = c
	}
	if one = next["n1.a.start"]; one == nil {
		t.Fatalf("there is no second attempt, but %v", next)
	}
	before := t.Store.Commits()
	reported(w, "", found(one, "fine"))
	if n := t.Store.Commits() - before; n != 1 {
		t.Errorf("one report took %d transactions", n)
	}
	is("after it was tried again", "n1 is fine", good[0], "n1.a said fine", good[1], "n1.a would change [fine]", good[2])
	if list, err := t.Store.NodeReports(t.Ctx, "t2", "web-1", "", 10); err != nil || len(list) != 0 {
		t.Errorf("another tenant reads %+v, %v", list, err)
	}
	if list, err := t.Store.NodeReports(t.Ctx, kit.Tenant, "web-1", "n2", 10); err != nil || len(list) != 1 || list[0].Node != "n2" {
		t.Errorf("of n2 there is %+v, %v", list, err)
	}
}

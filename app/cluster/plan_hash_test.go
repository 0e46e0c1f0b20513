package cluster

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// ranker returns one step that takes as long as is known, or a minute.
type ranker struct{}

func (ranker) Plan(r plan.Request) (plan.Plan, error) {
	p := plan.Plan{Kind: r.Kind, Steps: []plan.Step{{ID: "n1.create", Node: "n1", Action: app.ActionCreate, Rank: time.Minute, Expected: time.Minute}}}
	if len(r.DurationStats) > 0 {
		p.Steps[0].Rank, p.Steps[0].Expected, p.Steps[0].Runs = time.Second, time.Second, 5
		p.Expects = app.Expectation{Typical: time.Second, Runs: 5}
	}
	return p, nil
}

// Requests that waited when durations began to be learned were shown a hash with the guesses in it.
func TestPlanHashesIgnoreDurations(t *testing.T) {
	a := NewPlans(PlansConfig{Planner: ranker{}})
	r := plan.Request{Kind: app.OperationCreate, DurationStats: plan.DurationStatsByKey{{Action: app.ActionCreate}: {}}}
	learned, _ := a.Planner.Plan(r)
	// As it was computed then: the JSON of the plan as it was, with ranks.
	guessed, _ := a.Planner.Plan(plan.Request{Kind: app.OperationCreate})
	if got := template.Digest(`{"kind":"create","steps":[{"id":"n1.create","node":"n1","action":"create","rank":60000000000}]}`); got != guessed.RankedHash() {
		t.Errorf("the hash of then is %s, and is said to have been %s", got, guessed.RankedHash())
	}
	for hash, want := range map[string]bool{learned.Hash(): true, guessed.Hash(): true, guessed.RankedHash(): true, "": false, learned.RankedHash(): false} {
		if got, err := a.IsPlan(learned, r, hash); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", hash, got, err, want)
		}
	}
}

package app

import (
	"testing"
	"time"
)

// ranker gives one step that takes as long as is known, or a minute.
type ranker struct{}

func (ranker) Plan(r PlanRequest) (Plan, error) {
	p := Plan{Kind: r.Kind, Steps: []PlanStep{{ID: "n1.create", Node: "n1", Action: ActionCreate, Rank: time.Minute, Expected: time.Minute}}}
	if len(r.Paces) > 0 {
		p.Steps[0].Rank, p.Steps[0].Expected, p.Steps[0].Runs = time.Second, time.Second, 5
		p.Expects = Expectation{Typical: time.Second, Runs: 5}
	}
	return p, nil
}

// Requests that waited when durations began to be learned were shown a hash with the guesses in it.
func TestHashesFromBeforeDurationsWereLearnedHold(t *testing.T) {
	a := New(Deps{Planner: ranker{}})
	r := PlanRequest{Kind: OperationCreate, Paces: Paces{{Action: ActionCreate}: {}}}
	learned, _ := a.Planner.Plan(r)
	// As it was computed then: the JSON of the plan as it was, with ranks.
	guessed, _ := a.Planner.Plan(PlanRequest{Kind: OperationCreate})
	if got := digest(`{"kind":"create","steps":[{"id":"n1.create","node":"n1","action":"create","rank":60000000000}]}`); got != guessed.rankedHash() {
		t.Errorf("the hash of then is %s, and is said to have been %s", got, guessed.rankedHash())
	}
	for hash, want := range map[string]bool{learned.Hash(): true, guessed.Hash(): true, guessed.rankedHash(): true, "": false, learned.rankedHash(): false} {
		if got, err := a.isPlan(learned, r, hash); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", hash, got, err, want)
		}
	}
}

package apptest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"muster/app"
)

// storm lets workers claim, finish, fail, vanish and come back late at random, and checks what must always hold.
func (t *storeTest) storm() {
	for seed := range rounds(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := fmt.Sprintf("storm%d", seed)
		nodes := 1 + r.IntN(5)
		op := t.create(name, nodes)
		live := map[app.Fence]*app.ClaimedStep{} // what the ledger holds to be running
		var late []*app.ClaimedStep              // what workers still believe to hold
		effects := map[string]int{}
		for round := 0; round < 5000; round++ {
			t.clock.Move(time.Duration(r.IntN(1500)) * time.Millisecond)
			if n, err := t.s.SweepSteps(t.ctx, t.clock.Now()); err != nil {
				t.Fatal(err)
			} else if n > 0 {
				for f, c := range live {
					if c.Deadline.Before(t.clock.Now()) {
						delete(live, f)
						late = append(late, c)
					}
				}
			}
			if c := t.claim(fmt.Sprintf("w%d", r.IntN(3))); c != nil {
				for _, other := range live {
					if other.Node.Name == c.Node.Name {
						t.Fatalf("seed %d: %s and %s run at the same time on %s", seed, other.Step.ID, c.Step.ID, c.Node.Name)
					}
				}
				live[fence(c)] = c
			}
			for f, c := range live {
				if c.Deadline.Before(t.clock.Now()) {
					continue
				}
				switch r.IntN(6) {
				case 0:
					t.fail(c, app.Retry{Again: true, After: time.Duration(r.IntN(3)) * time.Second})
					delete(live, f)
				case 1, 2, 3:
					next := t.finish(c, r.IntN(2) == 0)
					effects[c.Step.ID]++
					delete(live, f)
					if next != nil {
						live[fence(next)] = next
					}
				}
			}
			for _, c := range late {
				_, err := t.end(c.Step.Worker, app.Finish{Fence: fence(c), Now: t.clock.Now()})
				t.code(err, app.EStale)
			}
			late = nil
			ops, err := t.s.Operations(t.ctx, tenant, name+"-1")
			t.must(err)
			if ops[0].Status.Ended() {
				break
			}
		}
		steps, err := t.s.Steps(t.ctx, tenant, op.ID)
		t.must(err)
		ended := map[int]app.Step{}
		failed := false
		for _, s := range steps {
			ended[s.Index] = s
			failed = failed || s.State == app.StepFailed
			if s.State == app.StepSucceeded && effects[s.ID] != 1 {
				t.Errorf("seed %d: %s counted %d times", seed, s.ID, effects[s.ID])
			}
			for _, n := range s.Needs {
				if s.State == app.StepSucceeded && ended[n].State != app.StepSucceeded {
					t.Errorf("seed %d: %s ran before %s", seed, s.ID, ended[n].ID)
				}
			}
		}
		want, state := app.OperationSucceeded, app.ClusterActive
		if failed {
			want, state = app.OperationFailed, app.ClusterFailed
		}
		t.status(name+"-1", state, want)
	}
}

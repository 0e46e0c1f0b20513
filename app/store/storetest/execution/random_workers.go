package execution

import (
	"fmt"
	"math/rand/v2"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
)

// storm lets workers claim, finish, fail, vanish and come back late at random, and checks what must always hold.
func (t *storeTest) storm() {
	for seed := range apptest.Rounds(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := fmt.Sprintf("storm%d", seed)
		nodes := 1 + r.IntN(5)
		op := t.Create(name, nodes)
		live := map[app.Fence]*execution.ClaimedStep{} // what the ledger holds to be running
		var late []*execution.ClaimedStep              // what workers still believe to hold
		effects := map[string]int{}
		for round := 0; round < 5000; round++ {
			t.Clock.Move(time.Duration(r.IntN(1500)) * time.Millisecond)
			if n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now()); err != nil {
				t.Fatal(err)
			} else if n > 0 {
				for f, c := range live {
					if c.Deadline.Before(t.Clock.Now()) {
						delete(live, f)
						late = append(late, c)
					}
				}
			}
			if c := t.Claim(fmt.Sprintf("w%d", r.IntN(3))); c != nil {
				for _, other := range live {
					if other.Node.Name == c.Node.Name {
						t.Fatalf("seed %d: %s and %s run at the same time on %s", seed, other.Step.ID, c.Step.ID, c.Node.Name)
					}
				}
				live[kit.Fence(c)] = c
			}
			for f, c := range live {
				if c.Deadline.Before(t.Clock.Now()) {
					continue
				}
				switch r.IntN(6) {
				case 0:
					t.FailStep(c, app.Retry{Again: true, After: time.Duration(r.IntN(3)) * time.Second})
					delete(live, f)
				case 1, 2, 3:
					next := t.Finish(c, r.IntN(2) == 0)
					effects[c.Step.ID]++
					delete(live, f)
					if next != nil {
						live[kit.Fence(next)] = next
					}
				}
			}
			for _, c := range late {
				_, err := t.End(c.Step.Worker, execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now()})
				t.Code(err, app.EStale)
			}
			late = nil
			ops, err := t.Store.Operations(t.Ctx, kit.Tenant, name+"-1")
			t.Must(err)
			if ops[0].Status.Ended() {
				break
			}
		}
		steps, err := t.Store.Steps(t.Ctx, kit.Tenant, op.ID)
		t.Must(err)
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
		t.Status(name+"-1", state, want)
	}
}

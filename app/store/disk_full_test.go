package store

import (
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/store/db"
)

// A report that meets a full disk is refused as something that passes, for all who reported at the same time, and is taken
// once there is room again.
func TestReportsOnAFullDisk(t *testing.T) {
	s := onDisk(t)
	pages := func(n int) {
		t.Helper()
		if err := s.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Row(fmt.Sprintf(`PRAGMA max_page_count = %d`, n)).Scan(new(int))
		}); err != nil {
			t.Fatal(err)
		}
	}
	const nodes = 40
	op, err := s.CreateCluster(t.Context(), apptest.NewCluster("t", "web", nodes, time.Now(), apptest.Chain(nodes)))
	if err != nil {
		t.Fatal(err)
	}
	w := app.WorkerID{Tenant: "t", Name: "w"}
	held, err := s.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor, Most: nodes})
	if err != nil || len(held) != nodes {
		t.Fatal(len(held), err)
	}
	// An error's text is long enough to need pages of its own.
	long := &app.Error{Code: app.EScript, Message: fmt.Sprintf("%0200000d", 1)}
	pages(1) // as few as there are
	report := func(c *execution.ClaimedStep, e *app.Error) error {
		done, err := s.FinishSteps(t.Context(), w, []execution.Finish{{Now: time.Now(), Err: e,
			Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}}})
		if err == nil && done[0].Err != nil {
			return done[0].Err
		}
		return err
	}
	errs := make(chan error, nodes)
	for _, c := range held {
		go func() { errs <- report(c, long) }()
	}
	for range nodes {
		if err := <-errs; app.CodeOf(err) != app.ETransient {
			t.Errorf("with a full disk, a report is %v", err)
		}
	}
	pages(1 << 20)
	for _, c := range held {
		if err := report(c, nil); err != nil {
			t.Errorf("with room again: %v", err)
		}
	}
	ops, err := s.Operations(t.Context(), "t", op.Cluster)
	if err != nil || ops[0].Done != nodes {
		t.Errorf("%+v (%v), want %d steps done", ops, err, nodes)
	}
}

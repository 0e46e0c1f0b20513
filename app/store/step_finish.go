package store

import (
	"context"
	"time"

	"muster/app"
)

// FinishSteps implements app.Ledger.
func (s *Store) FinishSteps(ctx context.Context, w app.WorkerID, fs []app.Finish) ([]app.Finished, error) {
	out := make([]app.Finished, len(fs))
	for i, f := range fs {
		next, err := s.finishStep(ctx, w, f)
		if err != nil && app.CodeOf(err) != app.EStale {
			return nil, err
		}
		if out[i].Next = next; err != nil {
			out[i].Err = app.AsError(err)
		}
	}
	return out, nil
}

func (s *Store) finishStep(ctx context.Context, w app.WorkerID, f app.Finish) (*app.ClaimedStep, error) {
	var next *app.ClaimedStep
	err := s.write(ctx, func(t *tx) error {
		next = nil
		var tenant, cluster string
		st, err := scanStep(t.row(`SELECT `+stepColumns+`, tenant, cluster FROM steps
			WHERE operation = ? AND idx = ? AND attempt = ? AND worker = ? AND tenant = ? AND state = 'running'`,
			f.Fence.Operation, f.Fence.Index, f.Fence.Attempt, w.Name, w.Tenant), &tenant, &cluster)
		if isNoRows(err) {
			// The worker may have reported before and not got the answer: then it is owed the same answer.
			if f.ClaimFor > 0 && f.Err == nil {
				if next, err = s.claimAgain(t, w, f); next != nil || err != nil {
					return err
				}
			}
			return app.Errorf(app.EStale, "Attempt %d of step %d of operation %d is not this worker's any more.",
				f.Fence.Attempt, f.Fence.Index, f.Fence.Operation)
		}
		if err != nil {
			return err
		}
		o, err := t.operation(st.Operation)
		if err != nil {
			return err
		}
		if err := t.noteNode(f.Now, cluster, st.Node, f.Seen); err != nil {
			return err
		}
		if f.Unasked && st.Action == app.ActionCreate {
			if err := t.notAsked(cluster, st.Node); err != nil {
				return err
			}
		}
		nodes, err := t.end(f, o, st)
		if err != nil {
			return err
		}
		// The node that just became free is served first: by this worker if it wants, on the connection that it has.
		if f.ClaimFor > 0 && o.op.Status == app.OperationRunning {
			next, err = s.claim(t, w.Name, f.Now, f.ClaimFor, nextOfNode, cluster, st.Node, micros(f.Now))
			if err != nil {
				return err
			}
		}
		if next == nil {
			nodes = append(nodes, st.Node)
		}
		for _, n := range nodes {
			if next != nil && n == st.Node {
				continue
			}
			if err := t.queueNode(f.Now, cluster, n); err != nil {
				return err
			}
		}
		return t.settle(f.Now, o)
	})
	if err != nil {
		return nil, err
	}
	return next, nil
}

// end moves the step to what the attempt made of it, and gives the nodes that got something to do.
func (t *tx) end(f app.Finish, o *operationRow, st app.Step) ([]string, error) {
	if f.Err == nil {
		return t.succeed(f, o, st)
	}
	state := app.StepFailed
	var notBefore time.Time
	switch {
	case o.op.Status == app.OperationCancelling:
		state = app.StepDropped
	case f.Retry.Again:
		state, notBefore = app.StepReady, f.Now.Add(f.Retry.After)
	}
	return nil, t.setBack(f.Now, o, st, state, notBefore, f.Err.Code, f.Err.ForPeople())
}

// succeed ends a step well: its outputs land on the node, and what waited for it may go on.
func (t *tx) succeed(f app.Finish, o *operationRow, st app.Step) ([]string, error) {
	if err := t.exec(`UPDATE steps SET state = 'succeeded', ended_at = ? WHERE operation = ? AND idx = ?`,
		micros(f.Now), st.Operation, st.Index); err != nil {
		return nil, err
	}
	o.active--
	o.unfinished--
	o.op.Done++
	if f.Node != nil {
		if err := t.updateNode(f.Now, o.op.Tenant, o.op.Cluster, st.Node, *f.Node); err != nil {
			return nil, err
		}
	}
	if err := t.stepEvent(f.Now, o, st, app.StepSucceeded, ""); err != nil {
		return nil, err
	}
	free, err := t.release(st.Operation, st.Index)
	if err != nil {
		return nil, err
	}
	return t.makeReady(f.Now, o, free)
}

// setBack ends an attempt that did not succeed.
func (t *tx) setBack(now time.Time, o *operationRow, st app.Step, state app.StepState, notBefore time.Time, code app.Code, text string) error {
	var ended int64
	if state.Ended() {
		ended = micros(now)
		o.active--
	}
	err := t.exec(`UPDATE steps SET state = ?, not_before = ?, ended_at = ?, worker = '', error_code = ?, error = ?
		WHERE operation = ? AND idx = ?`, state, micros(notBefore), ended, code, text, st.Operation, st.Index)
	if err != nil {
		return err
	}
	return t.stepEvent(now, o, st, state, text)
}

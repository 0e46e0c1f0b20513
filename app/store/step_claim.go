package store

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

const bestOfTenant = `SELECT operation, idx FROM steps WHERE state = 'queued' AND tenant = ? ORDER BY rank DESC, operation, idx LIMIT 1`

// ClaimSteps implements app.Ledger.
func (s *Store) ClaimSteps(ctx context.Context, q app.ClaimQuery) (cs []*app.ClaimedStep, err error) {
	err = s.write(ctx, func(t *tx) error {
		cs = []*app.ClaimedStep{}
		for range max(q.Most, 1) {
			c, err := s.claim(t, q.Worker.Name, q.Now, q.For, bestOfTenant, q.Worker.Tenant)
			if err != nil || c == nil {
				return err
			}
			cs = append(cs, c)
		}
		return nil
	})
	return cs, err
}

// claim takes the step that which picks, if any, and gathers what belongs to it.
func (s *Store) claim(t *tx, worker string, now time.Time, claimFor time.Duration, which string, args ...any) (*app.ClaimedStep, error) {
	deadline := now.Add(claimFor)
	c, err := s.claimed(t, deadline, `UPDATE steps SET state = 'running', attempt = attempt + 1, tries = tries + 1, worker = ?, deadline = ?,
			started_at = ?, ended_at = 0, not_before = 0, error = '', error_code = ''
		WHERE (operation, idx) = (`+which+`) RETURNING `+stepColumns+`, tenant, cluster`,
		append([]any{worker, micros(deadline), micros(now)}, args...)...)
	if c == nil || err != nil {
		return nil, err
	}
	if c.Step.Action == app.ActionCreate {
		if c.Intent, c.Unasked, err = t.askFor(now, c.Cluster.ID, c.Step.Node); err != nil {
			return nil, err
		}
	}
	o, err := t.operation(c.Step.Operation)
	if err != nil {
		return nil, err
	}
	return c, t.stepEvent(now, o, c.Step, app.StepRunning, "")
}

// claimAgain gives once more the step of a node that a worker was handed in an answer which it never got.
func (s *Store) claimAgain(t *tx, w app.WorkerID, f app.Finish) (*app.ClaimedStep, error) {
	deadline := f.Now.Add(f.ClaimFor)
	return s.claimed(t, deadline, `UPDATE steps SET deadline = ? WHERE (operation, idx) = (
			SELECT n.operation, n.idx FROM steps d JOIN steps n ON n.operation = d.operation AND n.node = d.node
			WHERE d.operation = ? AND d.idx = ? AND d.attempt = ? AND d.worker = ? AND d.tenant = ? AND d.state = 'succeeded'
				AND n.state = 'running' AND n.worker = d.worker)
		RETURNING `+stepColumns+`, tenant, cluster`, micros(deadline), f.Fence.Operation, f.Fence.Index, f.Fence.Attempt, w.Name, w.Tenant)
}

// claimed runs a change that returns one step, or none, and gathers what belongs to it.
func (s *Store) claimed(t *tx, deadline time.Time, change string, args ...any) (*app.ClaimedStep, error) {
	c := &app.ClaimedStep{Deadline: fromMicros(micros(deadline))}
	var cluster string
	st, err := scanStep(t.row(change, args...), &c.Tenant, &cluster)
	if isNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.Step = st
	if c.Cluster, err = scanCluster(t.row(`SELECT `+clusterColumns+` FROM clusters c WHERE c.id = ?`, cluster)); err != nil {
		return nil, err
	}
	var sealed []byte
	if c.Node, c.Intent, sealed, err = t.nodeOf(cluster, st.Node); err != nil {
		return nil, err
	}
	if st.Action == app.ActionCreate {
		// One that does not open must not keep everybody from every other step.
		c.HostKey, c.Err = s.open(sealed, "nodes/"+cluster+"/"+st.Node)
	}
	return c, nil
}

// ExtendClaims implements app.Ledger.
func (s *Store) ExtendClaims(ctx context.Context, w app.WorkerID, held []app.Fence, now time.Time, claimFor time.Duration) ([]app.Directive, error) {
	deadline := now.Add(claimFor)
	out := make([]app.Directive, len(held))
	err := s.write(ctx, func(t *tx) error {
		for i, f := range held {
			out[i] = app.Directive{Fence: f, Deadline: deadline}
			err := t.row(`UPDATE steps SET deadline = ? WHERE operation = ? AND idx = ? AND attempt = ? AND worker = ? AND tenant = ? AND state = 'running'
				RETURNING (SELECT status = 'cancelling' FROM operations o WHERE o.id = operation)`,
				micros(deadline), f.Operation, f.Index, f.Attempt, w.Name, w.Tenant).Scan(&out[i].Cancel)
			if isNoRows(err) {
				out[i] = app.Directive{Fence: f, Lost: true}
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// HeldStep implements app.Ledger.
func (s *Store) HeldStep(ctx context.Context, w app.WorkerID, f app.Fence) (app.Step, app.Cluster, app.Node, error) {
	var cluster, tenant string
	st, err := scanStep(s.reads.QueryRowContext(ctx, `SELECT `+stepColumns+`, tenant, cluster FROM steps
		WHERE operation = ? AND idx = ? AND attempt = ? AND worker = ? AND tenant = ? AND state = 'running'`,
		f.Operation, f.Index, f.Attempt, w.Name, w.Tenant), &tenant, &cluster)
	if isNoRows(err) {
		return st, app.Cluster{}, app.Node{}, app.Errorf(app.EStale, "Step %d of operation %d is not this worker's.", f.Index, f.Operation)
	}
	if err != nil {
		return st, app.Cluster{}, app.Node{}, fmt.Errorf("store: held step: %w", err)
	}
	c, err := s.Cluster(ctx, tenant, cluster)
	if err != nil {
		return st, c, app.Node{}, err
	}
	nodes, err := s.Nodes(ctx, tenant, cluster)
	if err != nil {
		return st, c, app.Node{}, err
	}
	for _, n := range nodes {
		if n.Name == st.Node {
			return st, c, n, nil
		}
	}
	return st, c, app.Node{}, app.Errorf(app.ENotFound, "There is no node %s.", st.Node)
}

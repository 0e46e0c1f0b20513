package store

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

const stepColumns = `operation, idx, step, node, action, service, is_join, state, attempt, tries, worker, rank, error_code, error,
	started_at, ended_at, not_before`

func scanStep(row scanner, more ...any) (app.Step, error) {
	var s app.Step
	var rank, started, ended, notBefore int64
	err := row.Scan(append([]any{&s.Operation, &s.Index, &s.ID, &s.Node, &s.Action, &s.Service, &s.Join, &s.State, &s.Attempt,
		&s.Tries, &s.Worker, &rank, &s.ErrorCode, &s.Error, &started, &ended, &notBefore}, more...)...)
	s.Rank = time.Duration(rank) * time.Microsecond
	s.StartedAt, s.EndedAt, s.NotBefore = fromMicros(started), fromMicros(ended), fromMicros(notBefore)
	return s, err
}

// maxNeeds is how many needs of a step are given: all of them, for all steps of a big plan, would be its square.
const maxNeeds = 100

// Steps implements app.Ledger. Needs that go through a join are given as the steps that it joins.
func (s *Store) Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error) {
	var all []app.Step
	err := s.each(ctx, func(row scanner) error {
		st, err := scanStep(row)
		all = append(all, st)
		return err
	}, `SELECT `+stepColumns+` FROM steps WHERE tenant = ? AND operation = ? ORDER BY idx`, tenant, operation)
	if err != nil {
		return nil, err
	}
	plan := app.Plan{Steps: make([]app.PlanStep, len(all))}
	for i, st := range all {
		plan.Steps[i].Join = st.Join
	}
	err = s.each(ctx, func(row scanner) error {
		var from, to int
		if err := row.Scan(&from, &to); err != nil {
			return err
		}
		if to < len(all) && from < to {
			plan.Steps[to].Needs = append(plan.Steps[to].Needs, from)
		}
		return nil
	}, `SELECT e.from_idx, e.to_idx FROM edges e WHERE e.operation = ? AND EXISTS (SELECT 1 FROM operations o WHERE o.id = ? AND o.tenant = ?)
		ORDER BY e.to_idx, e.from_idx`, operation, operation, tenant)
	if err != nil {
		return nil, err
	}
	acts := make([]app.Step, 0, len(all))
	for i, st := range all {
		if !st.Join {
			st.Needs, st.NeedsMore = plan.FirstNeeds(i, maxNeeds)
			acts = append(acts, st)
		}
	}
	return acts, nil
}

// makeReady moves waiting steps whose needs are met on: joins are done at once (and release what needs them), others
// become ready. It gives the nodes that got something to do, in the order in which they are to be served.
func (t *tx) makeReady(now time.Time, o *operationRow, free []int) ([]string, error) {
	var nodes []string
	seen := map[string]bool{}
	for len(free) > 0 {
		i := free[0]
		free = free[1:]
		var node string
		var join bool
		err := t.row(`UPDATE steps SET state = CASE WHEN is_join THEN 'succeeded' ELSE 'ready' END,
				ended_at = CASE WHEN is_join THEN ? ELSE 0 END, not_before = 0
			WHERE operation = ? AND idx = ? AND state = 'waiting' RETURNING node, is_join`, micros(now), o.op.ID, i).Scan(&node, &join)
		if err != nil {
			return nil, fmt.Errorf("store: step %d of %d: %w", i, o.op.ID, err)
		}
		if join {
			o.unfinished--
			more, err := t.release(o.op.ID, i)
			if err != nil {
				return nil, err
			}
			free = append(free, more...)
			continue
		}
		o.active++
		if !seen[node] {
			seen[node] = true
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}

// release counts a done step down from all that need it, and gives those that now need nothing more.
func (t *tx) release(operation int64, idx int) (free []int, err error) {
	err = t.each(func(row scanner) error {
		var i, left int
		var state app.StepState
		err := row.Scan(&i, &left, &state)
		if left == 0 && state == app.StepWaiting {
			free = append(free, i)
		}
		return err
	}, `UPDATE steps SET needs_left = needs_left - 1
		WHERE operation = ? AND idx IN (SELECT to_idx FROM edges WHERE operation = ? AND from_idx = ?)
		RETURNING idx, needs_left, state`, operation, operation, idx)
	return free, err
}

// queueNode queues the best ready step of a node that is doing nothing; where there is none it does nothing.
func (t *tx) queueNode(now time.Time, cluster, node string) error {
	n, err := t.count(`UPDATE steps SET state = 'queued', rung_at = 0 WHERE (operation, idx) = (`+nextOfNode+`)`, cluster, node, micros(now))
	if n > 0 {
		t.queued = true
	}
	return err
}

// nextOfNode picks the ready step of an idle node with the longest way to go. One operation of a cluster runs at a time.
const nextOfNode = `SELECT r.operation, r.idx FROM steps r
	WHERE r.cluster = ? AND r.node = ? AND r.state = 'ready' AND r.not_before <= ?
	AND EXISTS (SELECT 1 FROM operations o WHERE o.id = r.operation AND o.status = 'running')
	AND NOT EXISTS (SELECT 1 FROM steps b WHERE b.cluster = r.cluster AND b.node = r.node AND b.state IN ('queued', 'running'))
	ORDER BY r.rank DESC, r.idx LIMIT 1`

// stepEvent tells what became of a step, with how far its operation is.
func (t *tx) stepEvent(now time.Time, o *operationRow, st app.Step, state app.StepState, message string) error {
	return t.event(app.Event{At: now, Tenant: o.op.Tenant, Cluster: o.op.Cluster, Operation: o.op.ID, Kind: app.EventStep,
		Node: st.Node, Step: st.ID, Status: string(state), Message: message, Done: o.op.Done, Total: o.op.Total})
}

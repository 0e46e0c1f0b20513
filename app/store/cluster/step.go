package cluster

import (
	"context"
	"slices"
	"time"

	"muster/app"
	"muster/app/cluster"
	appplan "muster/app/plan"
	"muster/app/store/db"
)

// StepColumns are those of a step, as ScanStep scans them.
const StepColumns = `operation, idx, step, node, action, service, is_barrier, state, attempt, tries, worker, rank, error_code, error,
	started_at, ended_at, not_before`

// ScanStep reads a row of StepColumns; more are further columns behind.
func ScanStep(row db.Scanner, more ...any) (app.Step, error) {
	var s app.Step
	var rank, started, ended, notBefore int64
	err := row.Scan(append([]any{&s.Operation, &s.Index, &s.ID, &s.Node, &s.Action, &s.Service, &s.Join, &s.State, &s.Attempt,
		&s.Tries, &s.Worker, &rank, &s.ErrorCode, &s.Error, &started, &ended, &notBefore}, more...)...)
	s.Rank = time.Duration(rank) * time.Microsecond
	s.StartedAt, s.EndedAt, s.NotBefore = db.FromMicros(started), db.FromMicros(ended), db.FromMicros(notBefore)
	return s, err
}

// maxNeeds is how many needs of a step are given: all of them, for all steps of a big plan, would be its square.
const maxNeeds = 100

// Steps implements execution.WaitStore. Needs that go through a join are given as the steps that it joins.
func (s *Store) Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error) {
	all, err := s.StepsAndJoins(ctx, tenant, operation)
	if err != nil {
		return nil, err
	}
	plan := appplan.Plan{Steps: make([]appplan.Step, len(all))}
	for i, st := range all {
		plan.Steps[i].Join, plan.Steps[i].Needs = st.Join, st.Needs
	}
	after := make([]time.Duration, len(all)) // by step: the longest way that is left once it has ended
	for _, st := range all {
		for _, n := range st.Needs {
			after[n] = max(after[n], st.Rank)
		}
	}
	acts := make([]app.Step, 0, len(all))
	for i, st := range all {
		if !st.Join {
			st.Needs, st.NeedsMore = plan.FirstNeeds(i, maxNeeds)
			st.Expected = st.Rank - after[i]
			acts = append(acts, st)
		}
	}
	return acts, nil
}

// Unfinished counts what an operation that has ended left undone, and returns the first steps that failed; see UnfinishedOf.
// It reads a row of counts and the first failures, however many steps there are.
func (s *Store) Unfinished(ctx context.Context, tenant string, operation int64) (u cluster.Unfinished, err error) {
	onMachine, actions := among(`action`, app.MachineActions)
	args := append(slices.Clone(actions), actions...)
	args = append(args, app.ActionHook, app.ActionDelete, tenant, operation, tenant, operation)
	var other, stuck int
	err = s.Row(ctx, `SELECT count(CASE WHEN state = 'failed' THEN 1 END), count(DISTINCT CASE WHEN `+onMachine+` THEN node END),
			count(CASE WHEN NOT (`+onMachine+`) AND (state = 'failed' OR node = '' AND service = '' AND action <> ?) THEN 1 END),
			count(CASE WHEN action <> ? AND node IN (SELECT n.name FROM operations o JOIN nodes n ON n.cluster = o.cluster
				WHERE o.tenant = ? AND o.id = ? AND n.lost_at > 0 AND n.status <> 'deleted') THEN 1 END)
		FROM steps WHERE tenant = ? AND operation = ? AND is_barrier = 0 AND state <> 'succeeded'`, args...).Scan(&u.Failed, &u.Machines, &other, &stuck)
	if err != nil || u.Failed == 0 {
		u.Other, u.Stuck = other > 0, stuck > 0
		return u, db.Wrapped(err)
	}
	u.Other, u.Stuck = other > 0, stuck > 0
	err = s.Each(ctx, func(row db.Scanner) error {
		st, err := ScanStep(row)
		u.Failures = append(u.Failures, st)
		return err
	}, `SELECT `+StepColumns+` FROM steps WHERE tenant = ? AND operation = ? AND is_barrier = 0 AND state = 'failed' ORDER BY idx LIMIT ?`, tenant, operation, cluster.MostFailedSteps)
	return u, err
}

// StepsAndJoins returns them with the joins between, and all of their needs as they are in the plan; what is undone goes by it.
func (s *Store) StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error) {
	var all []app.Step
	err := s.Each(ctx, func(row db.Scanner) error {
		st, err := ScanStep(row)
		all = append(all, st)
		return err
	}, `SELECT `+StepColumns+` FROM steps WHERE tenant = ? AND operation = ? ORDER BY idx`, tenant, operation)
	if err != nil {
		return nil, err
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var from, to int
		if err := row.Scan(&from, &to); err != nil {
			return err
		}
		if to < len(all) && from < to {
			all[to].Needs = append(all[to].Needs, from)
		}
		return nil
	}, `SELECT e.from_idx, e.to_idx FROM step_dependencies e WHERE e.operation = ? AND EXISTS (SELECT 1 FROM operations o WHERE o.id = ? AND o.tenant = ?)
		ORDER BY e.to_idx, e.from_idx`, operation, operation, tenant)
	return all, err
}

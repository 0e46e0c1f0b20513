package ledger

import (
	"time"

	"muster/app"
	"muster/app/ledger"
	appplan "muster/app/plan"
	"muster/app/store/db"
)

// PlanRows provides a set with the rows of a plan that is not written yet. It implements ledger.Rows.
type PlanRows struct {
	op           app.Operation
	plan         appplan.Plan
	needs        [][]int32 // by step: those that need it
	DurationKeys []int64   // by kind of step, as in the plan: its row
}

var _ ledger.Rows = (*PlanRows)(nil)

// NewPlanRows returns the rows of a plan that is submitted.
func NewPlanRows(op app.Operation, p appplan.Plan) *PlanRows { return &PlanRows{op: op, plan: p} }

func (p *PlanRows) step(i int) ledger.Step {
	s := p.plan.Steps[i]
	st := ledger.Step{NeedsLeft: len(s.Needs), Step: app.Step{Operation: p.op.ID, Index: i, ID: s.ID, Node: s.Node, Action: s.Action,
		Service: s.Service, State: app.StepWaiting, Join: s.Join, Rank: s.Rank}, DurationKey: p.pace(s)}
	if q := p.plan.ManualStep(i); q != nil {
		st.AskFor, st.AcceptPartial = q.AnswerTime(), q.GoesOn()
	}
	return st
}

// pace returns the row of a step's kind; 0 for none.
func (p *PlanRows) pace(s appplan.Step) int64 {
	if s.DurationKey < 1 || s.DurationKey > len(p.DurationKeys) {
		return 0
	}
	return p.DurationKeys[s.DurationKey-1]
}

// Free returns the steps that need nothing.
func (p *PlanRows) Free() (steps []ledger.Step) {
	for i, s := range p.plan.Steps {
		if len(s.Needs) == 0 {
			steps = append(steps, p.step(i))
		}
	}
	return steps
}

func (p *PlanRows) Steps(keys []ledger.Key) (steps []ledger.Step, err error) {
	for _, k := range keys {
		steps = append(steps, p.step(k.Index))
	}
	return steps, nil
}

// Successors implements ledger.Rows. Only joins that join nothing are done before anything was begun.
func (p *PlanRows) Successors(of []ledger.Key) (edges []ledger.Edge, err error) {
	if p.needs == nil {
		p.needs = make([][]int32, len(p.plan.Steps))
		for i, s := range p.plan.Steps {
			for _, n := range s.Needs {
				p.needs[n] = append(p.needs[n], int32(i))
			}
		}
	}
	for _, k := range of {
		for _, to := range p.needs[k.Index] {
			edges = append(edges, ledger.Edge{Operation: p.op.ID, From: k.Index, To: int(to)})
		}
	}
	return edges, nil
}

// Live implements ledger.Rows: nothing else of the cluster is in progress.
func (p *PlanRows) Live([]ledger.Node) ([]ledger.Key, error) { return nil, nil }

func (p *PlanRows) First([]ledger.Line, time.Time) ([]ledger.Key, error) { return nil, nil }

// InsertSteps writes the plan, with what the set has changed of it.
func InsertSteps(t *db.Tx, p *PlanRows, set *ledger.Set) error {
	if err := set.Err(); err != nil {
		return err
	}
	steps := p.plan.Steps
	var asked []*ledger.Step
	err := t.ExecChunks(len(steps), `INSERT INTO steps (operation, idx, tenant, cluster, step, node, action, service, is_barrier, state, needs_left, rank,
			ended_at, duration_id, ask_for, ask_continue, queued_at, attempt, tries, worker, deadline, not_before, dispatched_at, error_code, error, started_at)
			VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '', 0, 0, 0, '', '', 0)`, ``, func(args []any, i int) []any {
			s, join := steps[i], 0
			if s.Join {
				join = 1
			}
			state, left, ended, queued := app.StepWaiting, len(s.Needs), int64(0), int64(0)
			askFor, acceptPartial := int64(0), 0
			if q := p.plan.ManualStep(i); q != nil {
				askFor = q.AnswerTime().Microseconds()
				if q.GoesOn() {
					acceptPartial = 1
				}
			}
			if st := set.Step(ledger.Key{Operation: p.op.ID, Index: i}); st != nil {
				state, left, ended, queued = st.State, st.NeedsLeft, db.Micros(st.EndedAt), db.Micros(st.Queued)
				t.Queued = t.Queued || state == app.StepQueued
				if state == app.StepAsked {
					asked = append(asked, st)
				}
			}
			return append(args, p.op.ID, i, p.op.Tenant, p.op.Cluster, s.ID, s.Node, string(s.Action), s.Service, join, string(state), left,
				s.Rank.Microseconds(), ended, p.pace(s), askFor, acceptPartial, queued)
		})
	if err != nil {
		return err
	}
	if err := saveWhole(t, asked); err != nil {
		return err
	}
	if err := insertManualSteps(t, p); err != nil {
		return err
	}
	// Edges are written in the order of their key, from the step that is needed: that is fastest.
	if _, err := p.Successors(nil); err != nil {
		return err
	}
	edges := make([][2]int32, 0, len(steps))
	for from, needed := range p.needs {
		for _, to := range needed {
			edges = append(edges, [2]int32{int32(from), to})
		}
	}
	return t.ExecChunks(len(edges), `INSERT INTO step_dependencies (operation, from_idx, to_idx) VALUES `, `(?, ?, ?)`, ``, func(args []any, i int) []any {
		return append(args, p.op.ID, edges[i][0], edges[i][1])
	})
}

package ledger

import (
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// StepColumns are what the rules need to know of a step.
const StepColumns = `s.operation, s.idx, s.step, s.node, s.action, s.service, s.is_barrier, s.state, s.needs_left, s.rank, s.attempt, s.tries,
	s.worker, s.deadline, s.not_before, s.dispatched_at, s.error_code, s.error, s.started_at, s.ended_at, s.ask_for, s.ask_continue, s.duration_id, s.queued_at`

// StepRow is a row of StepColumns on its way. It is used again for each row.
type StepRow struct {
	operation, idx, join, left, rank, attempt, tries, deadline, notBefore, dispatched, started, ended, askFor, acceptPartial, pace, queued int64
	step, node, action, service, state, worker, code, text                                                                                 string
	dest                                                                                                                                   []any
}

// NewStepRow returns where to scan StepColumns.
func NewStepRow() *StepRow {
	r := &StepRow{}
	r.dest = []any{&r.operation, &r.idx, &r.step, &r.node, &r.action, &r.service, &r.join, &r.state, &r.left, &r.rank, &r.attempt, &r.tries,
		&r.worker, &r.deadline, &r.notBefore, &r.dispatched, &r.code, &r.text, &r.started, &r.ended, &r.askFor, &r.acceptPartial, &r.pace, &r.queued}
	return r
}

func (r *StepRow) value() ledger.Step {
	return ledger.Step{
		Step: app.Step{
			Operation: r.operation, Index: int(r.idx), ID: r.step, Node: r.node, Action: app.Action(r.action), Service: r.service,
			State: app.StepState(r.state), Attempt: int(r.attempt), Tries: int(r.tries), Worker: r.worker, Join: r.join != 0,
			Rank: time.Duration(r.rank) * time.Microsecond, ErrorCode: app.Code(r.code), Error: r.text,
			StartedAt: db.FromMicros(r.started), EndedAt: db.FromMicros(r.ended), NotBefore: db.FromMicros(r.notBefore),
		},
		NeedsLeft: int(r.left), DurationKey: r.pace, Deadline: db.FromMicros(r.deadline), Queued: db.FromMicros(r.queued), Dispatched: db.FromMicros(r.dispatched),
		AskFor: time.Duration(r.askFor) * time.Microsecond, AcceptPartial: r.acceptPartial != 0,
	}
}

type ledgerRows struct{ t *db.Tx }

// Rows provides a set with the rows that it lacks, as a transaction sees them.
func Rows(t *db.Tx) ledger.Rows { return ledgerRows{t} }

var _ ledger.Rows = ledgerRows{}

func addKey(keys []ledger.Key) func([]any, int) []any {
	return func(args []any, i int) []any { return append(args, keys[i].Operation, keys[i].Index) }
}

func (l ledgerRows) Steps(keys []ledger.Key) ([]ledger.Step, error) {
	steps := make([]ledger.Step, 0, len(keys))
	r := NewStepRow()
	err := l.t.EachKeyed(r.Into(&steps), len(keys), `WITH f(o, i) AS (VALUES `, `(?, ?)`,
		`) SELECT `+StepColumns+` FROM f CROSS JOIN steps s WHERE s.operation = f.o AND s.idx = f.i`, addKey(keys))
	return steps, err
}

func (r *StepRow) Into(steps *[]ledger.Step) func(db.Scanner) error {
	return func(row db.Scanner) error {
		err := row.Scan(r.dest...)
		*steps = append(*steps, r.value())
		return err
	}
}

func (l ledgerRows) Successors(of []ledger.Key) (edges []ledger.Edge, err error) {
	var operation, from, to int64
	dest := []any{&operation, &from, &to}
	err = l.t.EachKeyed(func(row db.Scanner) error {
		err := row.Scan(dest...)
		edges = append(edges, ledger.Edge{Operation: operation, From: int(from), To: int(to)})
		return err
	}, len(of), `WITH f(o, i) AS (VALUES `, `(?, ?)`,
		`) SELECT e.operation, e.from_idx, e.to_idx FROM f CROSS JOIN step_dependencies e WHERE e.operation = f.o AND e.from_idx = f.i`, addKey(of))
	return edges, err
}

// liveOfNodes looks into two indexes: one for all three states would have to be kept for every step of a chain, which is
// never ready for as long as a transaction.
const liveOfNodes = `) SELECT s.operation, s.idx FROM f CROSS JOIN steps s WHERE s.cluster = f.c AND s.node = f.n AND s.state = 'ready'
	UNION ALL SELECT s.operation, s.idx FROM f CROSS JOIN steps s WHERE s.cluster = f.c AND s.node = f.n AND s.state IN ('queued', 'running')`

func (l ledgerRows) Live(nodes []ledger.Node) (keys []ledger.Key, err error) {
	var operation, idx int64
	dest := []any{&operation, &idx}
	err = l.t.EachKeyed(func(row db.Scanner) error {
		err := row.Scan(dest...)
		keys = append(keys, ledger.Key{Operation: operation, Index: int(idx)})
		return err
	}, len(nodes), `WITH f(c, n) AS (VALUES `, `(?, ?)`, liveOfNodes, addNode(nodes))
	return keys, err
}

// firstInLine looks at the ready steps of one node. The operation is that of the line.
const firstInLine = `) SELECT f.o, (SELECT r.idx FROM steps r WHERE r.cluster = f.c AND r.node = f.n AND r.state = 'ready' AND r.operation = f.o
	AND r.ask_for = 0 AND r.not_before <= ? ORDER BY r.rank DESC, r.idx LIMIT 1) FROM f`

func (l ledgerRows) First(lines []ledger.Line, now time.Time) (keys []ledger.Key, err error) {
	var operation int64
	var idx db.NullInt64
	dest := []any{&operation, &idx}
	err = l.t.EachKeyed(func(row db.Scanner) error {
		err := row.Scan(dest...)
		if idx.Valid {
			keys = append(keys, ledger.Key{Operation: operation, Index: int(idx.Int64)})
		}
		return err
	}, len(lines), `WITH f(c, n, o) AS (VALUES `, `(?, ?, ?)`, firstInLine, func(args []any, i int) []any {
		return append(args, lines[i].Cluster, lines[i].Name, lines[i].Operation)
	}, db.Micros(now))
	return keys, err
}

func addNode(nodes []ledger.Node) func([]any, int) []any {
	return func(args []any, i int) []any { return append(args, nodes[i].Cluster, nodes[i].Name) }
}

// StepsWhere loads steps that a condition finds.
func StepsWhere(t *db.Tx, where string, args ...any) (steps []ledger.Step, err error) {
	r := NewStepRow()
	err = t.Each(r.Into(&steps), `SELECT `+StepColumns+` FROM steps s WHERE `+where, args...)
	return steps, err
}

// AddSteps loads steps by key into a set, with their operations.
func AddSteps(t *db.Tx, set *ledger.Set, keys []ledger.Key) error {
	var ids []int64
	seen := map[int64]bool{}
	for _, k := range keys {
		if !seen[k.Operation] {
			seen[k.Operation] = true
			ids = append(ids, k.Operation)
		}
	}
	ops, err := cluster.LoadOperations(t, ids)
	if err != nil {
		return err
	}
	for _, o := range ops {
		set.AddOperation(o)
	}
	steps, err := Rows(t).Steps(keys)
	set.AddSteps(steps)
	return err
}

package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

const (
	maxGroups  = 100
	maxNeeds   = 4     // shown of a step, and one more to know of more
	maxJoins   = 8     // joins behind joins that are looked through
	maxPlaces  = 20000 // places in an operation's queue that are reported
	maxLines   = 1000  // operations of a tenant's queue
	maxReasons = 20
	maxArrives = 2 // steps at work whose machines are waited for

	// stepsWait picks the steps of an operation that wait for anything.
	stepsWait = `tenant = ? AND operation = ? AND is_barrier = 0 AND state IN ('waiting', 'ready', 'queued', 'asked')`
)

// WaitingRows implements execution.WaitStore. It scans the operation's rows a few times, whatever the page: 80,000 steps
// take some tens of milliseconds.
func (s *Store) WaitingRows(ctx context.Context, tenant string, operation int64, f execution.WaitingFilter, now time.Time) (execution.WaitingRows, error) {
	w := &waiting{s: s, ctx: ctx, tenant: tenant, operation: operation, WaitingRows: execution.WaitingRows{
		Needs: map[int][]app.Step{}, Busy: map[string]app.Step{}, Place: map[int]int{}}}
	for _, read := range []func() error{
		func() error { return w.groups(now) },
		func() error { return w.page(f) },
		w.needs,
		w.busy,
		w.places,
		w.running,
		w.arrives,
	} {
		if err := read(); err != nil {
			return execution.WaitingRows{}, err
		}
	}
	return w.WaitingRows, nil
}

type waiting struct {
	s         *Store
	ctx       context.Context
	tenant    string
	operation int64
	execution.WaitingRows
}

func (w *waiting) groups(now time.Time) error {
	var first []int
	err := w.s.Each(w.ctx, func(row db.Scanner) error {
		var g execution.WaitingCount
		var idx int
		var until, last int64
		err := row.Scan(&g.State, &g.Action, &g.Service, &g.Code, &g.Count, &idx, &until, &last)
		if g.Code != "" {
			g.Until, g.Last = db.FromMicros(until), db.FromMicros(last)
		}
		w.Groups, first = append(w.Groups, g), append(first, idx)
		return err
	}, `SELECT state, action, service, CASE WHEN not_before > ? THEN error_code ELSE '' END AS code, count(*), min(idx), min(not_before), max(not_before)
		FROM steps WHERE `+stepsWait+` GROUP BY state, action, service, code ORDER BY count(*) DESC, min(idx) LIMIT ?`,
		db.Micros(now), w.tenant, w.operation, maxGroups)
	if err != nil || len(first) == 0 {
		return err
	}
	steps, err := w.steps(`idx IN (`+db.Placeholders(len(first))+`)`, numbers(first)...)
	w.Example = make([]app.Step, len(first))
	for _, st := range steps {
		for i, idx := range first {
			if idx == st.Index {
				w.Example[i] = st
			}
		}
	}
	return err
}

func (w *waiting) page(f execution.WaitingFilter) (err error) {
	w.Steps, err = w.steps(`idx >= ? AND (? = '' OR node = ?) AND (? = '' OR step = ?) AND is_barrier = 0
		AND state IN ('waiting', 'ready', 'queued', 'asked') ORDER BY idx LIMIT ?`, f.From, f.Node, f.Node, f.Step, f.Step, f.Limit+1)
	if len(w.Steps) > f.Limit {
		w.Steps, w.More = w.Steps[:f.Limit], true
	}
	return err
}

func (w *waiting) steps(where string, args ...any) (steps []app.Step, err error) {
	err = w.s.Each(w.ctx, func(row db.Scanner) error {
		st, err := cluster.ScanStep(row)
		steps = append(steps, st)
		return err
	}, `SELECT `+cluster.StepColumns+` FROM steps WHERE tenant = ? AND operation = ? AND `+where, append([]any{w.tenant, w.operation}, args...)...)
	return steps, err
}

// needs finds what the page's waiting steps wait for, those first that are nearest to their end. Joins are looked
// through.
func (w *waiting) needs() error {
	direct := map[int][]app.Step{}
	var ask []int
	for _, st := range slices.Concat(w.Steps, w.Example) {
		if st.State == app.StepWaiting {
			ask = append(ask, st.Index)
		}
	}
	slices.Sort(ask)
	ask = slices.Compact(ask)
	wanted := ask
	for range maxJoins {
		if len(ask) == 0 {
			break
		}
		joins, err := w.unmet(ask, direct)
		if err != nil {
			return err
		}
		ask = slices.DeleteFunc(joins, func(j int) bool { _, known := direct[j]; return known })
	}
	for _, i := range wanted {
		w.Needs[i] = through(direct, i)
	}
	return nil
}

// unmet reads what of the needs of steps has not succeeded, and returns the joins among it.
func (w *waiting) unmet(of []int, into map[int][]app.Step) (joins []int, err error) {
	for _, i := range of {
		into[i] = nil
	}
	err = w.s.Each(w.ctx, func(row db.Scanner) error {
		var to, n int
		st, err := cluster.ScanStep(row, &to, &n)
		into[to] = append(into[to], st)
		if st.Join {
			joins = append(joins, st.Index)
		}
		return err
	}, `SELECT * FROM (SELECT `+cluster.StepColumns+`, e.to_idx AS to_idx, row_number() OVER (PARTITION BY e.to_idx ORDER BY
				CASE state WHEN 'failed' THEN 0 WHEN 'dropped' THEN 0 WHEN 'running' THEN 1 WHEN 'queued' THEN 2 WHEN 'ready' THEN 3 ELSE 4 END, idx) AS n
			FROM (SELECT from_idx, to_idx FROM step_dependencies WHERE operation = ? AND to_idx IN (`+db.Placeholders(len(of))+`)) AS e
			JOIN steps ON operation = ? AND idx = e.from_idx WHERE tenant = ? AND state <> 'succeeded') AS ranked
		WHERE n <= ? ORDER BY to_idx, n`, append(append([]any{w.operation}, numbers(of)...), w.operation, w.tenant, maxNeeds+1)...)
	slices.Sort(joins)
	return slices.Compact(joins), err
}

// through replaces joins by what they join.
func through(direct map[int][]app.Step, of int) (needs []app.Step) {
	seen := map[int]bool{of: true}
	var walk func(int)
	walk = func(i int) {
		for _, st := range direct[i] {
			switch {
			case seen[st.Index] || len(needs) > maxNeeds:
			case st.Join:
				seen[st.Index] = true
				walk(st.Index)
			default:
				seen[st.Index] = true
				needs = append(needs, st)
			}
		}
	}
	walk(of)
	return needs
}

// busy finds what keeps the nodes of ready steps busy.
func (w *waiting) busy() error {
	var nodes []any
	for _, st := range slices.Concat(w.Steps, w.Example) {
		if st.State == app.StepReady && !slices.Contains(nodes, any(st.Node)) {
			nodes = append(nodes, st.Node)
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	steps, err := w.steps(`state IN ('queued', 'running') AND cluster = (SELECT cluster FROM operations WHERE id = ?)
		AND node IN (`+db.Placeholders(len(nodes))+`)`, append([]any{w.operation}, nodes...)...)
	for _, st := range steps {
		w.Busy[st.Node] = st
	}
	return err
}

// places counts which of the operation's own steps are taken before those of the page.
func (w *waiting) places() error {
	if !slices.ContainsFunc(w.Steps, func(st app.Step) bool { return st.State == app.StepQueued }) {
		return nil
	}
	place := 0
	return w.s.Each(w.ctx, func(row db.Scanner) error {
		var idx int
		err := row.Scan(&idx)
		w.Place[idx] = place
		place++
		return err
	}, `SELECT idx FROM steps WHERE tenant = ? AND operation = ? AND state = 'queued' ORDER BY rank DESC, idx LIMIT ?`,
		w.tenant, w.operation, maxPlaces)
}

// running reads how many of its steps are at work.
func (w *waiting) running() error {
	err := w.s.Row(w.ctx, `SELECT running FROM operations WHERE tenant = ? AND id = ?`, w.tenant, w.operation).Scan(&w.Running)
	if err != nil && !db.IsNoRows(err) {
		return fmt.Errorf("store: waiting: %w", err)
	}
	return nil
}

// arrives reads which of its steps wait for a machine.
func (w *waiting) arrives() (err error) {
	if w.Running > 0 {
		w.Arrives, err = w.steps(`state = 'running' AND action = ? ORDER BY idx LIMIT ?`, string(app.ActionConfirm), maxArrives)
	}
	return err
}

func (s *Store) QueueLines(ctx context.Context, tenant string, now time.Time) (execution.QueueRows, error) {
	var q execution.QueueRows
	err := s.Each(ctx, func(row db.Scanner) error {
		var l execution.QueueLine
		var created int64
		var active, unfinished int
		err := row.Scan(&l.Operation, &l.Cluster, &l.Name, &l.Kind, &l.Status, &l.Requester, &created, &l.Turn, &l.Queued, &l.Running, &active,
			&unfinished, &l.Done, &l.Total)
		l.CreatedAt, l.Ready, l.Waiting = db.FromMicros(created), active-l.Queued-l.Running, unfinished-active
		q.Lines = append(q.Lines, l)
		return err
	}, `SELECT o.id, o.cluster, c.name, o.kind, o.status, o.requester, o.created_at, o.queue_order, o.queued, o.running, o.active, o.unfinished, o.done,
		o.total FROM operations o JOIN clusters c ON c.id = o.cluster WHERE o.tenant = ? AND `+goesOn+` ORDER BY o.id LIMIT ?`, tenant, maxLines)
	if err != nil {
		return q, err
	}
	if len(q.Lines) == maxLines {
		err := s.Row(ctx, `SELECT count(*) FROM operations o WHERE o.tenant = ? AND `+goesOn, tenant).Scan(&q.More)
		if q.More -= maxLines; err != nil {
			return q, fmt.Errorf("store: queue: %w", err)
		}
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		b := execution.WaitingCount{State: app.StepReady}
		var until, last int64
		err := row.Scan(&b.Code, &b.Count, &until, &last)
		b.Until, b.Last = db.FromMicros(until), db.FromMicros(last)
		q.BackOffs = append(q.BackOffs, b)
		return err
	}, `SELECT error_code, count(*), min(not_before), max(not_before) FROM steps WHERE `+backsOff+` AND tenant = ?
		AND `+goes+`
		GROUP BY error_code ORDER BY count(*) DESC, error_code LIMIT ?`, db.Micros(now), tenant, maxReasons)
	if err != nil {
		return q, err
	}
	if err := s.Row(ctx, `SELECT count(*) FROM steps WHERE state = 'asked' AND tenant = ? AND `+goes, tenant).Scan(&q.Asked); err != nil {
		return q, fmt.Errorf("store: queue: %w", err)
	}
	return q, nil
}

func (s *Store) QueueTenants(ctx context.Context, limit int) (some []execution.QueueTenant, more int, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var t execution.QueueTenant
		var oldest int64
		err := row.Scan(&t.Tenant, &oldest)
		t.Oldest = db.FromMicros(oldest)
		some = append(some, t)
		return err
	}, `SELECT o.tenant, min(o.created_at) FROM operations o WHERE `+goesOn+` GROUP BY o.tenant ORDER BY min(o.created_at), o.tenant LIMIT ?`, limit)
	if err != nil || len(some) < limit {
		return some, 0, err
	}
	err = s.Row(ctx, `SELECT count(DISTINCT o.tenant) FROM operations o WHERE `+goesOn).Scan(&more)
	if err != nil {
		return some, 0, fmt.Errorf("store: queues: %w", err)
	}
	return some, more - len(some), nil
}

// backsOff picks steps that wait to be tried again, in the words of an index.
const backsOff = `state = 'ready' AND not_before > 0 AND not_before > ?`

// goes picks steps of operations that run: those of a paused one wait for it.
const goes = `(SELECT status FROM operations WHERE id = steps.operation) = 'running'`

// goesOn picks operations that have not ended, in the words of an index.
const goesOn = `o.status IN ('waiting', 'running', 'paused', 'cancelling')`

func numbers(of []int) []any {
	out := make([]any, len(of))
	for i, n := range of {
		out[i] = n
	}
	return out
}

package execution

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
)

// claimCall is one call of ClaimSteps in progress.
type claimCall struct {
	execution.ClaimQuery
	out []*execution.ClaimedStep
}

func (s *Store) ClaimSteps(ctx context.Context, q execution.ClaimQuery) ([]*execution.ClaimedStep, error) {
	c := &claimCall{ClaimQuery: q}
	c.Most = max(c.Most, 1)
	err := s.claims.Do(ctx, s.DB, c)
	return c.out, err
}

const (
	// operationsToClaim are those of a tenant that have steps queued, in the order in which they are served.
	operationsToClaim = `SELECT id FROM operations WHERE tenant = ? AND queued > 0 ORDER BY running, queue_order, id LIMIT ?`
	// operationsBut are the same without those of some providers.
	operationsBut = `SELECT id FROM operations WHERE tenant = ? AND queued > 0
		AND NOT EXISTS (SELECT 1 FROM clusters c WHERE c.id = operations.cluster AND c.provider IN (%s)) ORDER BY running, queue_order, id LIMIT ?`
	bestOfOperation = `s.operation = ? AND s.state = 'queued' ORDER BY s.rank DESC, s.idx LIMIT ?`
)

// claim hands queued steps to the workers of some calls, all in one set.
func (s *Store) claim(t *db.Tx, calls []*claimCall) error {
	now := calls[0].Now
	set := ledger.New(now)
	var kinds []string // of worker: of one tenant, kept from the same providers
	of := map[string][]*claimCall{}
	for _, c := range calls {
		c.out = []*execution.ClaimedStep{}
		kind := strings.Join(append([]string{c.Worker.Tenant}, c.Except...), "\x00")
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], c)
	}
	taken := map[ledger.Key]*claimCall{}
	for _, kind := range kinds {
		if err := claimFor(t, set, of[kind], taken); err != nil {
			return err
		}
	}
	if len(taken) == 0 {
		return nil
	}
	nodes := ledgerdb.NewNodeSet(now)
	handed, err := s.assignNext(t, now, set, nodes)
	if err != nil {
		return err
	}
	if err := ledgerdb.Save(t, now, set); err != nil {
		return err
	}
	for _, st := range set.Claimed() {
		c := taken[st.Key()]
		c.out = append(c.out, handed[st.Key()])
	}
	return nil
}

// claimFor claims for workers of one tenant that may take the same steps, the first call first.
func claimFor(t *db.Tx, set *ledger.Set, calls []*claimCall, taken map[ledger.Key]*claimCall) error {
	slots := 0
	for _, c := range calls {
		slots += c.Most
	}
	ops, err := operationsInTurn(t, set, calls[0].ClaimQuery, slots)
	if err != nil {
		return err
	}
	shares := ledger.Share(ops, slots)
	steps, err := bestOf(t, set, ops, shares)
	if err != nil {
		return err
	}
	call, left := 0, calls[0].Most
	for _, o := range ops {
		for _, loaded := range steps[o.ID] {
			for left == 0 {
				call++
				left = calls[call].Most
			}
			c := calls[call]
			if st := set.AddStep(loaded); set.Claim(st, c.Worker.Name, c.Now.Add(c.For)) {
				taken[st.Key()] = c
				left--
			}
		}
	}
	return nil
}

// maxTogether is how many operations one statement looks into.
const maxTogether = 16

// bestOf returns the best queued steps of operations, so many of each, by operation and the best first. Those that the set
// has claimed for others come on top.
func bestOf(t *db.Tx, set *ledger.Set, ops []*ledger.Operation, shares []int) (map[int64][]ledger.Step, error) {
	claimed := map[int64]int{}
	for _, st := range set.Claimed() {
		claimed[st.Operation]++
	}
	var args []any
	for i, o := range ops {
		if shares[i] > 0 {
			args = append(args, o.ID, shares[i]+claimed[o.ID])
		}
	}
	var all []ledger.Step
	r := ledgerdb.NewStepRow()
	for len(args) > 0 {
		n := min(maxTogether, 1<<(bits.Len(uint(len(args)/2))-1))
		err := t.Each(r.Into(&all), bestOfOne+strings.Repeat(` UNION ALL `+bestOfOne, n-1), args[:2*n]...)
		if err != nil {
			return nil, err
		}
		args = args[2*n:]
	}
	steps := map[int64][]ledger.Step{}
	for _, st := range all {
		steps[st.Operation] = append(steps[st.Operation], st)
	}
	for _, list := range steps {
		slices.SortFunc(list, func(a, b ledger.Step) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Index, b.Index)) })
	}
	return steps, nil
}

const bestOfOne = `SELECT * FROM (SELECT ` + ledgerdb.StepColumns + ` FROM steps s WHERE ` + bestOfOperation + `) AS best`

// operationsInTurn loads the operations that may get slots into a set, and returns them in their turn.
func operationsInTurn(t *db.Tx, set *ledger.Set, q execution.ClaimQuery, slots int) ([]*ledger.Operation, error) {
	which, args := operationsToClaim, []any{q.Worker.Tenant}
	if len(q.Except) > 0 {
		which = fmt.Sprintf(operationsBut, "?"+strings.Repeat(", ?", len(q.Except)-1))
		for _, name := range q.Except {
			args = append(args, name)
		}
	}
	var ids []int64
	err := t.Each(func(row db.Scanner) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, which, append(args, slots)...)
	if err != nil {
		return nil, err
	}
	loaded, err := clusterdb.LoadOperations(t, ids)
	if err != nil {
		return nil, err
	}
	for _, o := range loaded {
		set.AddOperation(o)
	}
	ops := make([]*ledger.Operation, 0, len(ids))
	for _, id := range ids {
		if o := set.Operation(id); o != nil {
			ops = append(ops, o)
		}
	}
	return ops, nil
}

func (s *Store) ExtendClaims(ctx context.Context, w app.WorkerID, held []app.Fence, now time.Time, claimFor time.Duration) ([]execution.Directive, error) {
	deadline := now.Add(claimFor)
	out := make([]execution.Directive, len(held))
	err := s.Write(ctx, func(t *db.Tx) error {
		at := make(map[app.Fence]int, len(held)) // a fence that is asked for twice has one answer
		for i, f := range held {
			out[i] = execution.Directive{Fence: f, Lost: true}
			if _, known := at[f]; !known {
				at[f] = i
			}
		}
		var keep []app.Fence
		err := t.EachKeyed(func(row db.Scanner) error {
			var f app.Fence
			var status app.OperationStatus
			if err := row.Scan(&f.Operation, &f.Index, &f.Attempt, &status); err != nil {
				return err
			}
			if i, ok := at[f]; ok && out[i].Lost {
				out[i] = execution.Directive{Fence: f, Deadline: deadline, Cancel: status == app.OperationCancelling}
				keep = append(keep, f)
			}
			return nil
		}, len(held), `WITH f(o, i) AS (VALUES `, `(?, ?)`, `) SELECT s.operation, s.idx, s.attempt, p.status FROM f CROSS JOIN steps s CROSS JOIN operations p
			WHERE s.operation = f.o AND s.idx = f.i AND p.id = f.o AND s.worker = ? AND s.tenant = ? AND s.state = 'running'`,
			func(args []any, i int) []any { return append(args, held[i].Operation, held[i].Index) }, w.Name, w.Tenant)
		if err != nil {
			return err
		}
		for i, f := range held {
			out[i] = out[at[f]]
		}
		return t.ExecKeyed(len(keep), `WITH f(o, i, d) AS (VALUES `, `(?, ?, ?)`, `) UPDATE steps SET deadline = f.d FROM f
			WHERE steps.operation = f.o AND steps.idx = f.i`, func(args []any, i int) []any {
			return append(args, keep[i].Operation, keep[i].Index, db.Micros(deadline))
		})
	})
	return out, err
}

func (s *Store) HeldStep(ctx context.Context, w app.WorkerID, f app.Fence) (app.Step, app.Cluster, app.Node, error) {
	var cluster, tenant string
	st, err := clusterdb.ScanStep(s.Row(ctx, `SELECT `+clusterdb.StepColumns+`, tenant, cluster FROM steps
		WHERE operation = ? AND idx = ? AND attempt = ? AND worker = ? AND tenant = ? AND state = 'running'`,
		f.Operation, f.Index, f.Attempt, w.Name, w.Tenant), &tenant, &cluster)
	if db.IsNoRows(err) {
		return st, app.Cluster{}, app.Node{}, app.Errorf(app.EStale, "Another worker has step %d of operation %d.", f.Index, f.Operation)
	}
	if err != nil {
		return st, app.Cluster{}, app.Node{}, fmt.Errorf("store: held step: %w", err)
	}
	c, err := s.clusters.Cluster(ctx, tenant, cluster)
	if err != nil {
		return st, c, app.Node{}, err
	}
	n, err := clusterdb.ScanNode(s.Row(ctx, `SELECT `+clusterdb.NodeColumns+` FROM nodes WHERE cluster = ? AND name = ?`, cluster, st.Node))
	if db.IsNoRows(err) {
		return st, c, n, app.Errorf(app.ENotFound, "Node %s doesn't exist.", st.Node)
	}
	return st, c, n, err
}

package ledgertest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/plan"
)

// Book is a ledger in memory, moved by the same rules as a store's but loading and saving in the simplest way there is. A
// store that is asked the same must come to the same.
type Book struct {
	Operations map[int64]ledger.Operation
	Of         map[ledger.Key]ledger.Step
	edges      map[ledger.Key][]ledger.Edge
	nodes      map[ledger.Node][]ledger.Key
	keys       map[int64][]ledger.Key
	last       int64
}

var _ ledger.Rows = (*Book)(nil)

// NewBook returns an empty one.
func NewBook() *Book {
	return &Book{Operations: map[int64]ledger.Operation{}, Of: map[ledger.Key]ledger.Step{}, edges: map[ledger.Key][]ledger.Edge{},
		nodes: map[ledger.Node][]ledger.Key{}, keys: map[int64][]ledger.Key{}}
}

// Submit writes an operation, and starts it when no other one of its cluster is before it. An id of 0 means the next.
func (b *Book) Submit(op app.Operation, p plan.Plan, cancel bool) int64 {
	if cancel {
		for _, id := range slices.Backward(b.OperationsOf(op.Cluster)) {
			if o := b.Operations[id]; !o.Status.Ended() && o.Status != app.OperationCancelling {
				_ = b.Control(app.Control{Operation: id, Act: app.ControlCancel, Who: op.Requester, Now: op.CreatedAt})
			}
		}
	}
	if op.ID == 0 {
		op.ID = b.last + 1
	}
	b.last = max(b.last, op.ID)
	op.Status, op.Total = app.OperationWaiting, p.Acts()
	b.Operations[op.ID] = ledger.Operation{Operation: op, Unfinished: len(p.Steps)}
	for i, s := range p.Steps {
		k := ledger.Key{Operation: op.ID, Index: i}
		st := ledger.Step{NeedsLeft: len(s.Needs), Step: app.Step{Operation: op.ID, Index: i, ID: s.ID, Node: s.Node, Action: s.Action,
			Service: s.Service, State: app.StepWaiting, Join: s.Join, Rank: s.Rank}}
		if q := p.ManualStep(i); q != nil {
			st.AskFor, st.AcceptPartial = q.AnswerTime(), q.GoesOn()
		}
		b.Of[k] = st
		b.keys[op.ID] = append(b.keys[op.ID], k)
		if !s.Join {
			n := ledger.Node{Cluster: op.Cluster, Name: s.Node}
			b.nodes[n] = append(b.nodes[n], k)
		}
		for _, need := range s.Needs {
			from := ledger.Key{Operation: op.ID, Index: need}
			b.edges[from] = append(b.edges[from], ledger.Edge{Operation: op.ID, From: need, To: i})
		}
	}
	b.startNext(op.CreatedAt, op.Cluster)
	return op.ID
}

// OperationsOf returns a cluster's operations in the order of their ids.
func (b *Book) OperationsOf(cluster string) (ids []int64) {
	for _, id := range slices.Sorted(maps.Keys(b.Operations)) {
		if b.Operations[id].Cluster == cluster {
			ids = append(ids, id)
		}
	}
	return ids
}

func (b *Book) startNext(now time.Time, cluster string) {
	for _, id := range b.OperationsOf(cluster) {
		o := b.Operations[id]
		if o.Status.Ended() {
			continue
		}
		if o.Status != app.OperationWaiting {
			return
		}
		set := ledger.New(now)
		started := set.AddOperation(o)
		for _, st := range b.StepsOf(id) {
			set.AddStep(st)
		}
		set.Start(started)
		b.save(now, set)
		return
	}
}

// StepsOf returns an operation's steps in plan order.
func (b *Book) StepsOf(operation int64) []ledger.Step {
	steps := make([]ledger.Step, 0, len(b.keys[operation]))
	for _, k := range b.keys[operation] {
		steps = append(steps, b.Of[k])
	}
	return steps
}

// Claim hands out up to most queued steps of a tenant.
func (b *Book) Claim(w app.WorkerID, now time.Time, holds time.Duration, most int) []*ledger.Step {
	var ops []*ledger.Operation
	set := ledger.New(now)
	for _, id := range slices.Sorted(maps.Keys(b.Operations)) {
		if o := b.Operations[id]; o.Tenant == w.Tenant && o.Queued > 0 {
			ops = append(ops, set.AddOperation(o))
		}
	}
	slices.SortStableFunc(ops, func(a, b *ledger.Operation) int {
		return cmp.Or(cmp.Compare(a.Running, b.Running), cmp.Compare(ledger.Turn(a.Operation), ledger.Turn(b.Operation)))
	})
	for i, n := range ledger.Share(ops, most) {
		steps := slices.DeleteFunc(b.StepsOf(ops[i].ID), func(s ledger.Step) bool { return s.State != app.StepQueued })
		slices.SortStableFunc(steps, func(a, b ledger.Step) int { return cmp.Compare(b.Rank, a.Rank) })
		for _, st := range steps[:n] {
			set.Claim(set.AddStep(st), w.Name, now.Add(holds))
		}
	}
	b.save(now, set)
	return set.Claimed()
}

// Finish ends attempts. Handed are the next steps in the order of fs, nil for none; stale tells which fences did not hold.
func (b *Book) Finish(w app.WorkerID, now time.Time, fs []execution.Finish) (handed []*ledger.Step, stale []bool) {
	set := ledger.New(now)
	for _, f := range fs {
		k := ledger.Key{Operation: f.Fence.Operation, Index: f.Fence.Index}
		if o, ok := b.Operations[k.Operation]; ok {
			set.AddOperation(o)
		}
		if st, ok := b.Of[k]; ok {
			set.AddStep(st)
		}
	}
	set.Compete(w.Tenant, b.contenders(w.Tenant))
	for i, f := range fs {
		stale = append(stale, !set.Finish(w, f, i))
	}
	b.save(now, set)
	for i := range fs {
		st := set.Handed(i)
		handed = append(handed, st)
		stale[i] = stale[i] && st == nil
	}
	return handed, stale
}

func (b *Book) contenders(tenant string) (contenders []ledger.Contender) {
	for _, id := range slices.Sorted(maps.Keys(b.Operations)) {
		if o := b.Operations[id]; o.Tenant == tenant && o.Queued > 0 {
			contenders = append(contenders, ledger.Contender{Operation: id, Running: o.Running})
		}
	}
	slices.SortStableFunc(contenders, func(x, y ledger.Contender) int {
		return cmp.Or(cmp.Compare(x.Running, y.Running), cmp.Compare(ledger.Turn(b.Operations[x.Operation].Operation), ledger.Turn(b.Operations[y.Operation].Operation)))
	})
	return contenders[:min(2, len(contenders))]
}

// Sweep takes back what is lost and lets what is due continue. It returns how many moved.
func (b *Book) Sweep(now time.Time) (moved int) {
	set := ledger.New(now)
	for _, id := range slices.Sorted(maps.Keys(b.Operations)) {
		set.AddOperation(b.Operations[id])
		for _, st := range b.StepsOf(id) {
			if st.State == app.StepRunning || st.State == app.StepReady || st.State == app.StepAsked {
				if set.Sweep(set.AddStep(st)) {
					moved++
				}
			}
		}
	}
	b.save(now, set)
	return moved
}

// Answer ends what a person is asked; refused is why it is to fail. It tells false where that attempt is not asked any more.
func (b *Book) Answer(f app.Fence, refused string, now time.Time) bool {
	k := ledger.Key{Operation: f.Operation, Index: f.Index}
	set := ledger.New(now)
	set.AddOperation(b.Operations[k.Operation])
	if !set.Answer(set.AddStep(b.Of[k]), f.Attempt, refused) {
		return false
	}
	b.save(now, set)
	return true
}

// Control carries out a person's act.
func (b *Book) Control(c app.Control) error {
	set := ledger.New(c.Now)
	o := set.AddOperation(b.Operations[c.Operation])
	needed := ledger.Needed(c)
	for _, st := range b.StepsOf(o.ID) {
		if slices.Contains(needed, st.State) && (c.Node == "" || c.Node == st.Node) {
			set.AddStep(st)
		}
	}
	var later *ledger.Operation
	for _, id := range b.OperationsOf(o.Cluster) {
		if l := b.Operations[id]; id > o.ID && (!l.StartedAt.IsZero() || l.Status == app.OperationWaiting) {
			later = &l
		}
	}
	bulk, err := set.Control(o, c, later)
	if err != nil {
		return err
	}
	moves := ledger.Bulk(bulk)
	for _, k := range b.keys[o.ID] {
		st := b.Of[k]
		if to, ok := moves[st.State]; ok {
			st.State = to
			b.Of[k] = st
		}
	}
	b.save(c.Now, set)
	return nil
}

func (b *Book) save(now time.Time, set *ledger.Set) {
	if err := set.Settle(b); err != nil {
		panic(err)
	}
	leaving, taking := set.Changed()
	for _, st := range append(leaving, taking...) {
		b.Of[st.Key()] = *st
	}
	changed, turned := set.ChangedOperations()
	for _, o := range changed {
		b.Operations[o.ID] = *o
	}
	for _, o := range turned {
		if o.Status.Ended() {
			b.startNext(now, o.Cluster)
		}
	}
}

func (b *Book) Steps(keys []ledger.Key) (steps []ledger.Step, err error) {
	for _, k := range keys {
		if st, ok := b.Of[k]; ok {
			steps = append(steps, st)
		}
	}
	return steps, nil
}

func (b *Book) Successors(of []ledger.Key) (edges []ledger.Edge, err error) {
	for _, k := range of {
		edges = append(edges, b.edges[k]...)
	}
	return edges, nil
}

func (b *Book) Live(nodes []ledger.Node) (keys []ledger.Key, err error) {
	for _, n := range nodes {
		for _, k := range b.nodes[n] {
			if ledger.Live(b.Of[k].State) {
				keys = append(keys, k)
			}
		}
	}
	return keys, nil
}

func (b *Book) First(lines []ledger.Line, now time.Time) (keys []ledger.Key, err error) {
	for _, l := range lines {
		var best *ledger.Step
		for _, k := range b.nodes[l.Node] {
			st := b.Of[k]
			if st.Operation != l.Operation || st.State != app.StepReady || st.AskFor > 0 || st.NotBefore.After(now) {
				continue
			}
			if best == nil || st.Rank > best.Rank || st.Rank == best.Rank && st.Index < best.Index {
				best = &st
			}
		}
		if best != nil {
			keys = append(keys, best.Key())
		}
	}
	return keys, nil
}

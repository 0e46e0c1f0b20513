package ledger

import (
	"fmt"
	"slices"

	"muster/app"
)

// loaded is the operations and steps that a transaction has read, and whether the program has asked for something that can't be.
type loaded struct {
	ops   map[int64]*Operation
	steps map[Key]*Step
	nodes map[Node][]*Step
	err   error
}

// AddOperation adds a loaded operation. One that is there already stays as it is.
func (l *loaded) AddOperation(o Operation) *Operation {
	if known := l.ops[o.ID]; known != nil {
		return known
	}
	o.was, o.idle, o.changed = o.Status, o.Active == o.Queued+o.Running, false
	l.ops[o.ID] = &o
	return &o
}

// AddStep adds a loaded step of an operation that was added. One that is there already stays as it is.
func (l *loaded) AddStep(st Step) *Step { return l.add(&st) }

// AddSteps adds loaded steps whose operations are there. They belong to the set from then on.
func (l *loaded) AddSteps(steps []Step) {
	for i := range steps {
		if l.ops[steps[i].Operation] != nil {
			l.add(&steps[i])
		}
	}
}

func (l *loaded) add(st *Step) *Step {
	k := st.Key()
	if known := l.steps[k]; known != nil {
		return known
	}
	st.Was, st.Epoch, st.changed = st.State, 0, false
	l.steps[k] = st
	if !st.Join {
		n := l.nodeOf(st)
		l.nodes[n] = append(l.nodes[n], st)
	}
	return st
}

// Step returns a step of the set, or nil.
func (l *loaded) Step(k Key) *Step { return l.steps[k] }

// Operation returns an operation of the set, or nil.
func (l *loaded) Operation(id int64) *Operation { return l.ops[id] }

// Err reports whether the set was asked to do what the tables do not allow, which is a fault of the program. Such a set
// may not be saved.
func (l *loaded) Err() error { return l.err }

func (l *loaded) nodeOf(st *Step) Node {
	o := l.ops[st.Operation]
	if o == nil {
		l.fault("step %d of operation %d without its operation", st.Index, st.Operation)
		return Node{Name: st.Node}
	}
	return Node{o.Cluster, st.Node}
}

func (l *loaded) fault(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("ledger: "+format, args...)
	}
}

func (l *loaded) load(rows Rows, keys []Key) error {
	if len(keys) == 0 {
		return nil
	}
	steps, err := rows.Steps(keys)
	for i := range steps {
		l.add(&steps[i])
	}
	return err
}

// knows reports whether the set has the step that was queued or running on a node before, and whether it has some that were ready.
func (l *loaded) knows(n Node) (taken, waited bool) {
	for _, st := range l.nodes[n] {
		taken = taken || OnNode(st.Was)
		waited = waited || st.Was == app.StepReady
	}
	return taken, waited
}

// of returns the loaded steps of an operation in plan order.
func (l *loaded) of(operation int64) []*Step {
	var steps []*Step
	for k, st := range l.steps {
		if k.Operation == operation {
			steps = append(steps, st)
		}
	}
	byIndex(steps)
	return steps
}

func byIndex(steps []*Step) {
	slices.SortFunc(steps, func(a, b *Step) int { return a.Index - b.Index })
}

func (l *loaded) ids() []int64 {
	ids := make([]int64, 0, len(l.ops))
	for id := range l.ops {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

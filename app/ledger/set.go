package ledger

import (
	"slices"
	"time"

	"muster/app"
)

// Rows brings a Set the rows that it lacks. What there is not is left out.
type Rows interface {
	Steps(keys []Key) ([]Step, error)
	// Successors returns every edge that begins at one of the steps.
	Successors(of []Key) ([]Edge, error)
	// Live names the ready, queued and running steps of nodes.
	Live(nodes []Node) ([]Key, error)
	// First names the first in each line, where there is one: of the steps that are ready, whose time has come and that no person is asked
	// for, the one with the longest way to go, among equals the one with the lowest index.
	First(lines []Line, now time.Time) ([]Key, error)
}

// Line is the line of a node: the steps of an operation that wait for it.
type Line struct {
	Node
	Operation int64
}

// Set is the part of a ledger that a transaction works on. Operations and steps are added as they were loaded (locked),
// then things happen to them (Finish, Claim, Lose …), then Settle follows all that comes of it, and what changed is saved.
// A Set is for one transaction and one goroutine.
type Set struct {
	loaded
	now        time.Time
	order      []*Step // of steps that changed, in the order of their first change
	done       []Key   // succeeded, and what needs them was not looked at yet
	touched    []Node
	isTouch    map[Node]bool
	handoffs   map[Node]handoff
	again      []again
	changes    []Change
	claimed    []*Step
	handed     map[int]*Step // by tag
	contenders map[string][]Contender
}

// handoff is a worker's request to be handed the next step of a node that it just served.
type handoff struct {
	worker string
	until  time.Time
	tag    int
}

type again struct {
	node Node
	handoff
}

// Change is what is reported about a step.
type Change struct {
	Operation int64
	Step      string
	Node      string
	State     app.StepState
	Message   string
}

// Contender is an operation of a tenant that has steps queued.
type Contender struct {
	Operation int64
	Running   int
}

// New returns an empty set.
func New(now time.Time) *Set {
	return &Set{loaded: loaded{ops: map[int64]*Operation{}, steps: map[Key]*Step{}, nodes: map[Node][]*Step{}}, now: now, isTouch: map[Node]bool{},
		handoffs: map[Node]handoff{}, handed: map[int]*Step{}, contenders: map[string][]Contender{}}
}

// Compete tells the set which other operations have steps queued, those with the fewest running ones first: two of each
// tenant are enough. A worker is not handed the next step of a node when another operation has more right to its slot.
func (s *Set) Compete(tenant string, contenders []Contender) { s.contenders[tenant] = contenders }

// fire moves a step by the table.
func (s *Set) fire(st *Step, e StepEvent) {
	to, ok := stepTable[st.State][e]
	if !ok {
		s.fault("step %d of operation %d is %s and cannot be moved by %q", st.Index, st.Operation, st.State, e)
		return
	}
	o := s.ops[st.Operation]
	o.move(st.Join, st.State, to)
	s.change(st)
	st.State = to
	if to == app.StepQueued {
		st.Queued, st.Dispatched = s.now, time.Time{}
	}
	if to.Ended() {
		st.EndedAt = s.now
	}
}

func (s *Set) change(st *Step) {
	if !st.changed {
		st.changed = true
		s.order = append(s.order, st)
	}
}

func (s *Set) tell(st *Step, message string) {
	s.changes = append(s.changes, Change{st.Operation, st.ID, st.Node, st.State, message})
}

func (s *Set) touch(n Node) {
	if !s.isTouch[n] {
		s.isTouch[n] = true
		s.touched = append(s.touched, n)
	}
}

// Settle follows what has happened: what waited for done steps becomes ready, free nodes get their next step, and
// operations of which nothing is left end.
func (s *Set) Settle(rows Rows) error {
	for len(s.done) > 0 {
		done := s.done
		s.done = nil
		if err := s.release(rows, done); err != nil {
			return err
		}
	}
	if err := s.serve(rows); err != nil {
		return err
	}
	for _, id := range s.ids() {
		s.end(s.ops[id])
	}
	return s.err
}

// release counts done steps down from all that need them. Joins among those that now need nothing more are done
// themselves, for the next round.
func (s *Set) release(rows Rows, done []Key) error {
	edges, err := rows.Successors(done)
	if err != nil {
		return err
	}
	var lacking []Key
	seen := map[Key]bool{}
	for _, e := range edges {
		if k := (Key{e.Operation, e.To}); s.steps[k] == nil && !seen[k] {
			seen[k] = true
			lacking = append(lacking, k)
		}
	}
	if err := s.load(rows, lacking); err != nil {
		return err
	}
	for _, e := range edges {
		st := s.steps[Key{e.Operation, e.To}]
		if st == nil || st.NeedsLeft == 0 {
			s.fault("step %d of operation %d needs %d, which it does not know", e.To, e.Operation, e.From)
			continue
		}
		st.NeedsLeft--
		s.change(st)
		if st.NeedsLeft == 0 && st.State == app.StepWaiting {
			s.ready(st)
		}
	}
	return nil
}

// ready moves a waiting step on whose needs are met.
func (s *Set) ready(st *Step) {
	if st.Join {
		s.fire(st, joined)
		s.done = append(s.done, st.Key())
		return
	}
	s.fire(st, needsMet)
	s.offer(st)
}

// serve returns free nodes their best ready step: to the worker that just served the node, if it wants and may have it,
// else to the queue.
func (s *Set) serve(rows Rows) error {
	if len(s.touched) == 0 {
		return nil
	}
	keys, err := s.lacking(rows)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool { return s.steps[k] != nil || s.ops[k.Operation] == nil })
	if err := s.load(rows, keys); err != nil {
		return err
	}
	for _, a := range s.again {
		s.handAgain(a)
	}
	for _, n := range s.touched {
		best := s.next(n)
		if best == nil {
			continue
		}
		if w, ok := s.handoffs[n]; ok && s.mayAcceptPartial(s.ops[best.Operation]) {
			s.claim(best, w)
		} else {
			s.fire(best, nodeFree)
		}
	}
	s.touched, s.isTouch = nil, map[Node]bool{}
	return nil
}

// lacking names the steps that have to be known to serve the nodes that were touched. Of a node whose only queued or running step is in the
// set, as that of an attempt that has just ended, it is the first in line: its steps may be many. Where an operation had no step in any line,
// as when each node has one chain, no one has to look.
func (s *Set) lacking(rows Rows) ([]Key, error) {
	runs := map[string]int64{} // by cluster, of which one operation at most is running
	for _, o := range s.ops {
		if o.Status == app.OperationRunning {
			runs[o.Cluster] = o.ID
		}
	}
	var lines []Line
	var whole []Node
	for _, n := range s.touched {
		switch taken, waited := s.knows(n); {
		case !taken || waited:
			whole = append(whole, n)
		case runs[n.Cluster] != 0 && !s.ops[runs[n.Cluster]].idle:
			lines = append(lines, Line{n, runs[n.Cluster]})
		}
	}
	var keys, first []Key
	var err error
	if len(whole) > 0 {
		if keys, err = rows.Live(whole); err != nil {
			return nil, err
		}
	}
	if len(lines) > 0 {
		first, err = rows.First(lines, s.now)
	}
	return append(keys, first...), err
}

// next returns the ready step of an idle node with the longest way to go, or nil.
func (s *Set) next(n Node) *Step {
	var best *Step
	for _, st := range s.nodes[n] {
		switch {
		case OnNode(st.State):
			return nil
		case st.State != app.StepReady || st.AskFor > 0 || st.NotBefore.After(s.now) || s.ops[st.Operation].Status != app.OperationRunning:
		case best == nil || st.Rank > best.Rank || st.Rank == best.Rank && st.Index < best.Index:
			best = st
		}
	}
	return best
}

// end ends an operation of which nothing is left.
func (s *Set) end(o *Operation) {
	if o.Active > 0 || o.Status.Ended() || o.Status == app.OperationWaiting {
		return
	}
	if o.Unfinished == 0 {
		s.turn(o, done)
		o.Message = ""
	} else {
		s.turn(o, stuck)
	}
}

// turn moves an operation by the table.
func (s *Set) turn(o *Operation, e operationEvent) {
	to, ok := operationTable[o.Status][e]
	if !ok {
		s.fault("operation %d is %s and cannot be moved by %q", o.ID, o.Status, e)
		return
	}
	o.Status, o.changed = to, true
	o.EndedAt = time.Time{}
	if to.Ended() {
		o.EndedAt = s.now
	}
	if e == started {
		o.StartedAt = s.now
	}
}

// Start begins a waiting operation whose turn it is. Its steps that need nothing must have been added.
func (s *Set) Start(o *Operation) {
	s.turn(o, started)
	var free []*Step
	for _, st := range s.steps {
		if st.Operation == o.ID && st.State == app.StepWaiting && st.NeedsLeft == 0 {
			free = append(free, st)
		}
	}
	byIndex(free)
	for _, st := range free {
		s.ready(st)
	}
}

// Changed returns the steps to be saved: first those that leave their node, then those that take it.
func (s *Set) Changed() (leaving, taking []*Step) {
	for _, st := range s.order {
		if OnNode(st.State) && !OnNode(st.Was) {
			taking = append(taking, st)
		} else {
			leaving = append(leaving, st)
		}
	}
	return leaving, taking
}

// ChangedOperations returns the operations to be saved, in the order of their ids, and those of which the status changed.
func (s *Set) ChangedOperations() (changed, turned []*Operation) {
	for _, id := range s.ids() {
		o := s.ops[id]
		if o.changed {
			changed = append(changed, o)
		}
		if o.Status != o.was {
			turned = append(turned, o)
		}
	}
	return changed, turned
}

// Changes returns what people are notified of about steps, in order.
func (s *Set) Changes() []Change { return s.changes }

// Claimed returns the steps that were claimed, in order.
func (s *Set) Claimed() []*Step { return s.claimed }

// Handed returns the step that a Finish with this tag was handed, or nil.
func (s *Set) Handed(tag int) *Step { return s.handed[tag] }

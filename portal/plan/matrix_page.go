package plan

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
)

// Matrix shows a running plan: rows are nodes, columns are steps grouped by service, cells are states.
type Matrix struct {
	Operation int64
	Groups    []MatrixGroup
	Rows      []MatrixRow
	Counts    []StateCount // for the legend, in the order of a step's life
	Hidden    int          // the number of nodes left out
}

// MatrixGroup is the columns of one service; Service "" is the machine itself.
type MatrixGroup struct {
	Service string
	Actions []app.Action
}

// Title is the heading of the group.
func (g MatrixGroup) Title() string {
	if g.Service == "" {
		return "machine"
	}
	return g.Service
}

// MatrixRow is one node.
type MatrixRow struct {
	Node  string
	Cells []Cell
}

// Cell is one step of a node. Step is nil if the node has no such step; First starts a group.
type Cell struct {
	Step  *app.Step
	First bool
}

// StateCount is the number of steps in a state.
type StateCount struct {
	State app.StepState
	Count int
}

// States are the states of a step in the order of its lifecycle, as legends show them.
var States = []app.StepState{
	app.StepWaiting, app.StepReady, app.StepQueued, app.StepRunning, app.StepAsked, app.StepSucceeded, app.StepFailed, app.StepDropped,
}

// order is the order of actions within a group of columns.
var order = []app.Action{app.ActionCreate, app.ActionWake, app.ActionConfirm, app.ActionAttach, app.ActionBootstrap, app.ActionIsolate, app.ActionSleep,
	app.ActionInstall, app.ActionConfigure, app.ActionInitialize,
	app.ActionStart, app.ActionReload, app.ActionCheck, app.ActionBake, app.ActionCompare, app.ActionRun, app.ActionNames,
	app.ActionStop, app.ActionRemove, app.ActionDetach,
	app.ActionDelete}

// replaceOrder is the order within a group if something ends before it starts again, as in a restart or a repair.
var replaceOrder = append([]app.Action{app.ActionStop, app.ActionRemove, app.ActionDetach, app.ActionDelete}, order[:len(order)-4]...)

// matrixRows is the most nodes that are drawn. Nodes with problems come first.
const matrixRows = 60

// NewMatrix arranges the steps of one operation. Groups come in the order of their first steps in the
// plan, which is the order of execution.
func NewMatrix(steps []app.Step) Matrix {
	m := Matrix{}
	byNode := map[string]map[string]*app.Step{}
	trouble := map[string]bool{}
	counts := map[app.StepState]int{}
	for i := range steps {
		s := &steps[i]
		if s.Join {
			continue
		}
		m.Operation = s.Operation
		if s.Node == "" { // between batches, which is no column of a node
			counts[s.State]++
			continue
		}
		m.column(s)
		if byNode[s.Node] == nil {
			byNode[s.Node] = map[string]*app.Step{}
		}
		byNode[s.Node][s.Service+"/"+string(s.Action)] = s
		trouble[s.Node] = trouble[s.Node] || s.State == app.StepFailed
		counts[s.State]++
	}
	for _, g := range m.Groups {
		by := order
		if again(byNode, g) {
			by = replaceOrder
		}
		slices.SortFunc(g.Actions, func(a, b app.Action) int { return slices.Index(by, a) - slices.Index(by, b) })
	}
	nodes := sortedNodes(byNode)
	if len(nodes) > matrixRows {
		slices.SortStableFunc(nodes, func(a, b string) int { return rank(trouble[a]) - rank(trouble[b]) })
		m.Hidden = len(nodes) - matrixRows
		nodes = nodes[:matrixRows]
		slices.SortFunc(nodes, compareNodes)
	}
	for _, n := range nodes {
		row := MatrixRow{Node: n}
		for _, g := range m.Groups {
			for i, a := range g.Actions {
				row.Cells = append(row.Cells, Cell{byNode[n][g.Service+"/"+string(a)], i == 0})
			}
		}
		m.Rows = append(m.Rows, row)
	}
	for _, st := range States {
		m.Counts = append(m.Counts, StateCount{st, counts[st]})
	}
	return m
}

// again reports whether on some node a service is stopped before it's started, or a machine is deleted before it's created.
func again(byNode map[string]map[string]*app.Step, g MatrixGroup) bool {
	ends, begins := []app.Action{app.ActionStop, app.ActionRemove}, []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionStart}
	if g.Service == "" {
		ends, begins = []app.Action{app.ActionDelete}, []app.Action{app.ActionCreate}
	}
	for _, steps := range byNode {
		for _, e := range ends {
			for _, b := range begins {
				end, begin := steps[g.Service+"/"+string(e)], steps[g.Service+"/"+string(b)]
				if end != nil && begin != nil && end.Index < begin.Index {
					return true
				}
			}
		}
	}
	return false
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func (m *Matrix) column(s *app.Step) {
	for i := range m.Groups {
		g := &m.Groups[i]
		if g.Service != s.Service {
			continue
		}
		if !slices.Contains(g.Actions, s.Action) {
			g.Actions = append(g.Actions, s.Action)
		}
		return
	}
	m.Groups = append(m.Groups, MatrixGroup{Service: s.Service, Actions: []app.Action{s.Action}})
}

// CellID is the element id of a step's cell; live updates find it by this name.
func CellID(index int) string { return fmt.Sprintf("c%d", index) }

// StateWords describes a step's state. live.js uses the same words when it repaints a cell.
func StateWords(s app.Step) string {
	if s.Attempt > 1 {
		return fmt.Sprintf("%s, attempt %d", s.State.Words(), s.Attempt)
	}
	return s.State.Words()
}

// Remaining estimates how long the steps that have not ended still take: the longest path left, stretched or shrunk
// by the ratio of actual to estimated time so far. ok is false without a basis.
func Remaining(now time.Time, op app.Operation, steps []app.Step) (left time.Duration, ok bool) {
	for _, s := range steps {
		if s.State.Ended() {
			continue
		}
		rest := s.Rank
		if s.State == app.StepRunning && !s.StartedAt.IsZero() {
			// A step that has been running for a while has less ahead of it, but never less than a bit.
			rest = max(rest-now.Sub(s.StartedAt), rest/10)
		}
		left = max(left, rest)
	}
	elapsed := now.Sub(op.StartedAt)
	if op.StartedAt.IsZero() || elapsed <= 0 {
		return left, left > 0
	}
	if left == 0 {
		if op.Done == 0 || op.Total <= op.Done {
			return 0, false
		}
		return elapsed * time.Duration(op.Total-op.Done) / time.Duration(op.Done), true
	}
	if past := op.Expected - left; past > 10*time.Second && op.Done > 2 {
		pace := min(4, max(0.25, float64(elapsed)/float64(past)))
		left = time.Duration(pace * float64(left))
	}
	return left, true
}

// Slipped is how much longer than expected an operation takes with so much time left; 0 if it's little.
func Slipped(now time.Time, op app.Operation, left time.Duration) time.Duration {
	if op.StartedAt.IsZero() || op.Expected <= 0 {
		return 0
	}
	slip := now.Sub(op.StartedAt) + left - op.Expected
	if slip < 20*time.Second || slip < op.Expected/4 {
		return 0
	}
	return slip
}

// NewMatrixCounts counts steps by state, for a legend.
func NewMatrixCounts(steps []app.Step) []StateCount {
	counts := map[app.StepState]int{}
	for _, s := range steps {
		if !s.Join {
			counts[s.State]++
		}
	}
	var out []StateCount
	for _, st := range States {
		out = append(out, StateCount{st, counts[st]})
	}
	return out
}

package planner

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// graph collects steps and needs in any order, and then makes a plan of them.
type graph struct {
	nodes []plan.Node
	steps []plan.Step // Needs are places in steps
	place []place
}

// place is where a step would like to stand in the plan: by node, then action, then service.
type place struct {
	node, action int
	service      string
}

// joined is the node of joins. They come as soon as they can, so that what waits for them can take its own place.
const joined = -1

// actionOrder is the order in which the actions of a node are listed where nothing else orders them.
var actionOrder = func() map[app.Action]int {
	order := map[app.Action]int{app.ActionCreate: 0, app.ActionWake: 0, app.ActionConfirm: 1, app.ActionAttach: 2, app.ActionBootstrap: 3}
	for _, a := range template.ServiceActions {
		if a == app.ActionStop {
			order[app.ActionCheck] = len(order)
		}
		order[a] = len(order)
	}
	order[app.ActionCompare] = len(order)
	order[app.ActionRun] = len(order)
	order[app.ActionSleep] = len(order)
	order[app.ActionDetach] = len(order)
	order[app.ActionIsolate] = len(order)
	order[app.ActionBake] = len(order)
	order[app.ActionDelete] = len(order)
	return order
}()

// act adds a step of a node; service is "" for machine actions. It returns the step's place in steps.
func (g *graph) act(node int, service string, action app.Action) int {
	name := g.nodes[node].Name
	id := name + "." + string(action)
	if service != "" {
		id = name + "." + service + "." + string(action)
	}
	return g.add(plan.Step{ID: id, Node: name, Action: action, Service: service}, node)
}

// drain adds a step that drains a node.
func (g *graph) drain(node int, service string, action app.Action) int {
	name := g.nodes[node].Name
	return g.add(plan.Step{ID: plan.DrainID(name, service, action), Node: name, Action: action, Service: service}, node)
}

// join adds a step that is done when others are. Service and action say what is joined; service "" joins joins. The prefix
// keeps ids apart where an update joins the same more than once.
func (g *graph) join(prefix, service string, action app.Action, needs ...int) int {
	id := prefix + "." + string(action)
	if service != "" {
		id = prefix + "." + service + "." + string(action)
	}
	step := g.add(plan.Step{ID: id, Action: action, Service: service, Join: true}, joined)
	g.need(step, needs...)
	return step
}

func (g *graph) add(s plan.Step, node int) int {
	g.steps = append(g.steps, s)
	g.place = append(g.place, place{node, actionOrder[s.Action], s.Service})
	return len(g.steps) - 1
}

func (g *graph) need(step int, on ...int) {
	g.steps[step].Needs = append(g.steps[step].Needs, on...)
}

// prune takes out joins that nothing waits for.
func (g *graph) prune() {
	waiting := make([]int, len(g.steps))
	for _, s := range g.steps {
		for _, n := range s.Needs {
			waiting[n]++
		}
	}
	var idle []int
	for i, s := range g.steps {
		if s.Join && waiting[i] == 0 {
			idle = append(idle, i)
		}
	}
	gone := make([]bool, len(g.steps))
	for len(idle) > 0 {
		i := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		gone[i] = true
		for _, n := range g.steps[i].Needs {
			if waiting[n]--; waiting[n] == 0 && g.steps[n].Join {
				idle = append(idle, n)
			}
		}
	}
	index, kept := make([]int, len(g.steps)), 0
	for i := range g.steps {
		if !gone[i] {
			g.steps[kept], g.place[kept], index[i] = g.steps[i], g.place[i], kept
			kept++
		}
	}
	g.steps, g.place = g.steps[:kept], g.place[:kept]
	for i := range g.steps {
		for j, n := range g.steps[i].Needs {
			g.steps[i].Needs[j] = index[n]
		}
	}
}

// plan puts the steps in topological order, as near to their own places as their needs allow.
func (g *graph) plan(kind app.OperationKind) plan.Plan {
	waits := make([]int, len(g.steps))
	serves := make([][]int, len(g.steps))
	ready := &queue{graph: g}
	for i := range g.steps {
		slices.Sort(g.steps[i].Needs)
		g.steps[i].Needs = slices.Compact(g.steps[i].Needs)
		waits[i] = len(g.steps[i].Needs)
		for _, n := range g.steps[i].Needs {
			serves[n] = append(serves[n], i)
		}
		if waits[i] == 0 {
			ready.steps = append(ready.steps, i)
		}
	}
	heap.Init(ready)
	p := plan.Plan{Kind: kind, Steps: make([]plan.Step, 0, len(g.steps))}
	index := make([]int, len(g.steps))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		index[i] = len(p.Steps)
		s := g.steps[i]
		for j, n := range s.Needs {
			s.Needs[j] = index[n]
		}
		slices.Sort(s.Needs)
		p.Steps = append(p.Steps, s)
		for _, j := range serves[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
	if len(p.Steps) != len(g.steps) {
		panic("planner: a cycle got past the check of the services' dependencies")
	}
	return p
}

// queue is a heap of the steps whose needs are met.
type queue struct {
	graph *graph
	steps []int
}

func (q *queue) Len() int { return len(q.steps) }
func (q *queue) Less(i, j int) bool {
	a, b := q.graph.place[q.steps[i]], q.graph.place[q.steps[j]]
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.action, b.action), strings.Compare(a.service, b.service)) < 0
}
func (q *queue) Swap(i, j int) { q.steps[i], q.steps[j] = q.steps[j], q.steps[i] }
func (q *queue) Push(x any)    { q.steps = append(q.steps, x.(int)) }
func (q *queue) Pop() any {
	last := q.steps[len(q.steps)-1]
	q.steps = q.steps[:len(q.steps)-1]
	return last
}

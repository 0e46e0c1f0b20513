package planner

import (
	"slices"

	"muster/app"
	appplan "muster/app/plan"
	"muster/app/template"
)

// withHooks wraps a finished plan with steps that run the scripts of hooks, n1.hook.NAME.
//
// A hook before the operation goes first on the nodes that stand: nothing else begins until it has run on all of them. On a
// machine that the operation makes it runs as soon as that is prepared, before anything of a service is done there. A hook
// after it waits for all else. Hooks of the same time run one after the other, in the order of the list. Nodes that are given
// back have none, and neither has an operation that has nothing else to do.
//
// It is pure, and what it adds keeps the plan's order and its linear size.
func withHooks(p appplan.Plan, r appplan.Request) appplan.Plan {
	hooks := template.Scripts(r.Hooks, r.Kind)
	if len(hooks) == 0 || p.Acts() == 0 {
		return p
	}
	w := &wrapper{plan: p, nodes: r.Nodes, made: madeAt(p)}
	for _, h := range slices.Backward(hooks) {
		if h.When == template.HookBefore && w.before(h) {
			w.used = append(w.used, h)
		}
	}
	slices.Reverse(w.used)
	for _, h := range hooks {
		if h.When == template.HookAfter && w.after(h) {
			w.used = append(w.used, h)
		}
	}
	if len(w.used) == 0 {
		return p
	}
	p = w.plan
	p.Hooks = w.used
	return p
}

type wrapper struct {
	plan  appplan.Plan
	nodes []appplan.Node
	made  map[string]string // by node that the operation makes: the step after which it can be worked on
	used  []template.OperationHook
}

// madeAt finds, for each node whose machine is made, the last step of making it.
func madeAt(p appplan.Plan) map[string]string {
	made := map[string]string{}
	for _, s := range p.Steps {
		switch {
		case s.Join:
		case s.Action == app.ActionCreate:
			made[s.Node] = s.ID
		case made[s.Node] != "" && (s.Action == app.ActionConfirm || s.Action == app.ActionAttach || s.Action == app.ActionBootstrap):
			made[s.Node] = s.ID
		}
	}
	return made
}

// before puts a hook in front, and reports whether there is a node for it.
func (w *wrapper) before(h template.OperationHook) bool {
	var standing []appplan.Step
	fresh := map[string]bool{} // by the step that makes the node
	for _, n := range w.nodes {
		if n.Change == appplan.NodeGone || !h.OnNode(n.Services) {
			continue
		}
		if made := w.made[n.Name]; made != "" {
			fresh[made] = true
		} else {
			standing = append(standing, hookStep(n.Name, h))
		}
	}
	if len(standing) == 0 && len(fresh) == 0 {
		return false
	}
	old := w.plan.Steps
	steps := make([]appplan.Step, 0, len(old)+len(standing)+len(fresh)+1)
	steps = append(steps, standing...)
	gate := len(steps) - 1 // what everything else waits for
	if len(standing) > 1 {
		all := appplan.Step{ID: "all.hook." + h.Name, Action: app.ActionHook, Join: true}
		for i := range standing {
			all.Needs = append(all.Needs, i)
		}
		steps, gate = append(steps, all), len(steps)
	}
	index := make([]int, len(old))
	hooked := map[string]int{} // by node: its hook's step
	for i, s := range old {
		needs := make([]int, 0, len(s.Needs)+1)
		if len(s.Needs) == 0 && gate >= 0 {
			needs = append(needs, gate)
		}
		for _, n := range s.Needs {
			needs = append(needs, index[n])
		}
		if on, ok := hooked[s.Node]; ok && !s.Join {
			needs = append(needs, on)
		}
		slices.Sort(needs)
		if s.Needs = slices.Compact(needs); len(s.Needs) == 0 {
			s.Needs = nil
		}
		index[i] = len(steps)
		steps = append(steps, s)
		if fresh[s.ID] {
			own := hookStep(s.Node, h)
			own.Needs = []int{len(steps) - 1}
			hooked[s.Node] = len(steps)
			steps = append(steps, own)
		}
	}
	w.plan.Steps = steps
	return true
}

// after puts a hook behind all else, and reports whether there is a node for it.
func (w *wrapper) after(h template.OperationHook) bool {
	var own []appplan.Step
	for _, n := range w.nodes {
		if n.Change != appplan.NodeGone && h.OnNode(n.Services) {
			own = append(own, hookStep(n.Name, h))
		}
	}
	if len(own) == 0 {
		return false
	}
	needed := make([]bool, len(w.plan.Steps))
	for _, s := range w.plan.Steps {
		for _, n := range s.Needs {
			needed[n] = true
		}
	}
	all := appplan.Step{ID: allBeforeHook + h.Name, Action: app.ActionHook, Join: true}
	for i := range needed {
		if !needed[i] {
			all.Needs = append(all.Needs, i)
		}
	}
	w.plan.Steps = append(slices.Clip(w.plan.Steps), all)
	gate := len(w.plan.Steps) - 1
	for _, s := range own {
		s.Needs = []int{gate}
		w.plan.Steps = append(w.plan.Steps, s)
	}
	return true
}

func hookStep(node string, h template.OperationHook) appplan.Step {
	return appplan.Step{ID: template.HookStepID(node, h.Name), Node: node, Action: app.ActionHook}
}

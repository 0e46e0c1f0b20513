package planner

import (
	"cmp"
	"slices"

	"muster/app"
)

// createActions are the service actions of a create, in order.
var createActions = []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart}

// createRules order services across nodes. Configuring waits for no other service.
var createRules = []rule{
	{phaseInstall, app.ActionInstall, app.ActionInstall},
	{phaseRuntime, app.ActionStart, app.ActionInitialize},
	{phaseRuntime, app.ActionStart, app.ActionStart},
}

// create plans a whole cluster: on every node create, confirm, bootstrap, then each service's own chain of actions.
func create(g *graph, r app.PlanRequest) error {
	s, err := servicesOf(r)
	if err != nil {
		return err
	}
	macros, err := app.ParseMacros(r.Config)
	if err != nil {
		return err
	}
	if err := macros.Check(s.count); err != nil {
		return err
	}
	c := &creation{graph: g, services: s}
	c.machines()
	for _, a := range s.list {
		c.chain(a)
	}
	for _, a := range s.list {
		c.order(a)
	}
	c.connect()
	c.await(macros.References())
	return nil
}

// count gives how many nodes have a service.
func (s *services) count(name string) int {
	if i, ok := s.rank[name]; ok {
		return len(s.list[i].nodes)
	}
	return 0
}

// creation is a create being planned.
type creation struct {
	*graph
	*services
	confirm, bootstrap []int // by node
	edges              []edge
	first              []int // service actions that wait for no other service
}

// edge says that a's steps of one action wait for all of b's steps of another.
type edge struct {
	a, b *service
	rule rule
}

func (c *creation) machines() {
	for n := range c.nodes {
		create := c.act(n, "", app.ActionCreate)
		confirm := c.act(n, "", app.ActionConfirm)
		bootstrap := c.act(n, "", app.ActionBootstrap)
		c.need(confirm, create)
		c.need(bootstrap, confirm)
		c.confirm, c.bootstrap = append(c.confirm, confirm), append(c.bootstrap, bootstrap)
	}
}

// chain adds a service's actions on each of its nodes, one after the other.
func (c *creation) chain(a *service) {
	for _, n := range a.nodes {
		previous := -1
		for _, action := range createActions {
			if !a.has(action) {
				continue
			}
			step := c.act(n, a.name, action)
			a.steps[action] = append(a.steps[action], step)
			if previous >= 0 {
				c.need(step, previous)
			}
			previous = step
		}
	}
}

// order finds what a service waits for: other services, and bootstrap where nothing else on the node says so already.
func (c *creation) order(a *service) {
	start := slices.IndexFunc(createActions, a.has)
	if start < 0 {
		return
	}
	first := createActions[start]
	waits := false
	var behind []*service // that have an action which, wherever they are, comes before the first of a
	for i, r := range createRules {
		if !a.has(r.after) || slices.ContainsFunc(createRules[:i], func(earlier rule) bool {
			return earlier.phase == r.phase && earlier.before == r.before && a.has(earlier.after) // already waited there
		}) {
			continue
		}
		for _, b := range c.before(a, r) {
			c.edges = append(c.edges, edge{a, c.list[b], r})
			waits = waits || r.after == first
		}
		if r.after == first {
			for _, b := range c.list {
				if a.closure[r.phase].has(b.number) && b.has(r.before) {
					behind = append(behind, b)
				}
			}
		}
	}
	for k, n := range a.nodes {
		step := a.steps[first][k]
		if !slices.ContainsFunc(behind, func(b *service) bool { return b.on[n] }) {
			c.need(step, c.bootstrap[n])
		}
		if !waits {
			c.first = append(c.first, step)
		}
	}
}

// connect draws the edges between services. Where several steps wait for several others, they meet in one join.
func (c *creation) connect() {
	type source struct {
		service int
		action  app.Action
	}
	waiting := map[source]int{}
	for _, e := range c.edges {
		waiting[source{e.b.number, e.rule.before}] += len(e.a.nodes)
	}
	joins := map[source][]int{}
	for _, e := range c.edges {
		from := source{e.b.number, e.rule.before}
		needs := e.b.steps[from.action]
		if len(needs) > 1 && waiting[from] > 1 {
			if joins[from] == nil {
				joins[from] = []int{c.join(e.b.name, from.action, needs...)}
			}
			needs = joins[from]
		}
		for _, step := range e.a.steps[e.rule.after] {
			c.need(step, needs...)
		}
	}
}

// await lets the first service actions wait until all machines are confirmed whose names or addresses the
// configuration speaks of. All later ones come after those.
func (c *creation) await(references []string) {
	var named []*service
	for _, name := range references {
		if i, ok := c.rank[name]; ok {
			named = append(named, c.list[i])
		}
	}
	if len(named) == 0 || len(c.first) == 0 {
		return
	}
	// Large sets come first, since they may cover the small ones.
	slices.SortStableFunc(named, func(a, b *service) int { return cmp.Compare(len(b.nodes), len(a.nodes)) })
	covered := make([]bool, len(c.nodes))
	var needs []int
	for _, a := range named {
		var confirms []int
		fresh := false
		for _, n := range a.nodes {
			confirms = append(confirms, c.confirm[n])
			fresh = fresh || !covered[n]
			covered[n] = true
		}
		switch {
		case !fresh:
		case len(confirms) > 1 && len(c.first) > 1:
			needs = append(needs, c.join(a.name, app.ActionConfirm, confirms...))
		default:
			needs = append(needs, confirms...)
		}
	}
	if len(needs) > 1 && len(c.first) > 1 {
		needs = []int{c.join("", app.ActionConfirm, needs...)}
	}
	for _, step := range c.first {
		for _, n := range needs {
			if c.steps[n].Join || c.steps[n].Node != c.steps[step].Node { // its own machine is confirmed already
				c.need(step, n)
			}
		}
	}
}

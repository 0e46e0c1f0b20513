package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// createActions are the service actions of a create, in order.
var createActions = []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart, app.ActionCheck}

// createRules order services across nodes. Configuring waits for no other service.
var createRules = []rule{
	{phaseInstall, app.ActionInstall, app.ActionInstall},
	{phaseRuntime, app.ActionStart, app.ActionInitialize},
	{phaseRuntime, app.ActionStart, app.ActionStart},
	{phaseRuntime, app.ActionStart, app.ActionCheck},
}

// create plans a whole cluster: on every node create, confirm, bootstrap, then each service's own chain of actions.
func create(g *graph, r plan.Request) error {
	if isolates(r) {
		return isolate(g, r)
	}
	s, err := servicesOf(r)
	if err != nil {
		return err
	}
	macros, err := s.macros(texts(r))
	if err != nil {
		return err
	}
	c := &creation{graph: g, services: s, nodeServices: make([][]*service, len(r.Nodes)), waits: map[act][]act{}, over: map[act]bits{}}
	c.machines()
	for _, a := range s.list {
		c.chain(a)
	}
	for _, a := range s.list {
		c.order(a)
	}
	for _, a := range s.list {
		c.follow(a)
	}
	c.connect()
	c.bakes()
	c.await(everywhere, c.named(macros.References()), func(n int) (int, bool) { return c.confirm[n], true }, c.first)
	return nil
}

// macros reads the macros of a configuration, and refuses those that do not fit the nodes there are.
func (s *services) macros(config map[string]any) (*template.MacroConfig, error) {
	m, err := template.ParseMacros(config)
	if err != nil {
		return nil, err
	}
	return m, m.Check(s.count)
}

// count returns how many nodes have a service.
func (s *services) count(name string) int {
	if i, ok := s.byName[name]; ok {
		return len(s.list[i].nodes)
	}
	return 0
}

// creation is a create being planned.
type creation struct {
	*graph
	*services
	nodeServices       [][]*service // by node
	confirm, bootstrap []int        // by node
	waits              map[act][]act
	over               map[act]bits
	first              []int // service actions that wait for no other service
}

// act is an action of a service on all its nodes.
type act struct {
	service *service
	action  app.Action
}

func (a act) number() int {
	return a.service.number*len(createActions) + slices.Index(createActions, a.action)
}

// attachBehind plans that a node's volumes come behind a step, and returns what comes last.
func (c *creation) attachBehind(n, step int) int {
	if attach := c.services.attach(c.graph, n); attach >= 0 {
		c.need(attach, step)
		return attach
	}
	return step
}

func (c *creation) machines() {
	for n := range c.nodes {
		create := c.act(n, "", app.ActionCreate)
		confirm := c.act(n, "", app.ActionConfirm)
		bootstrap := c.act(n, "", app.ActionBootstrap)
		c.need(confirm, create)
		c.need(bootstrap, c.attachBehind(n, confirm))
		c.confirm, c.bootstrap = append(c.confirm, confirm), append(c.bootstrap, bootstrap)
	}
}

// chain adds a service's actions on each of its nodes.
func (c *creation) chain(a *service) {
	for _, n := range a.nodes {
		c.nodeServices[n] = append(c.nodeServices[n], a)
	}
	for _, action := range createActions {
		if !a.has(action) {
			continue
		}
		for _, n := range a.nodes {
			a.steps[action] = append(a.steps[action], c.act(n, a.name, action))
		}
	}
}

// order finds which services a service waits for.
func (c *creation) order(a *service) {
	for i, r := range createRules {
		if !a.has(r.after) || slices.ContainsFunc(createRules[:i], func(earlier rule) bool {
			return earlier.phase == r.phase && earlier.before == r.before && a.has(earlier.after) // already waited there
		}) {
			continue
		}
		for _, b := range c.before(a, r) {
			at := act{a, r.after}
			done, _ := c.list[b].last(r.before)
			c.waits[at] = append(c.waits[at], act{c.list[b], done})
		}
	}
}

// follow lets each action of a service wait for the one before it on the same node, and the first for bootstrap, where
// the other services that it waits for have not done so already.
func (c *creation) follow(a *service) {
	previous := app.Action("")
	for _, action := range createActions {
		if !a.has(action) {
			continue
		}
		at := act{a, action}
		alone := len(c.waits[at]) == 0
		over := newBits(len(c.list) * len(createActions))
		for _, b := range c.waits[at] {
			over.add(c.behind(b))
		}
		for k, n := range a.nodes {
			step := a.steps[action][k]
			switch {
			case previous == "" && (alone || !slices.ContainsFunc(c.nodeServices[n], func(b *service) bool { return b.begun(over) })):
				c.need(step, c.bootstrap[n])
			case previous != "" && !over.has(act{a, previous}.number()):
				c.need(step, a.steps[previous][k])
			}
			if previous == "" && alone {
				c.first = append(c.first, step)
			}
		}
		previous = action
	}
}

// behind returns, by number, the acts that are over on all their nodes once an act is.
func (c *creation) behind(at act) bits {
	if known, ok := c.over[at]; ok {
		return known
	}
	over := newBits(len(c.list) * len(createActions))
	for _, action := range createActions[:slices.Index(createActions, at.action)+1] {
		if !at.service.has(action) {
			continue
		}
		over.set(act{at.service, action}.number())
		for _, b := range c.waits[act{at.service, action}] {
			over.add(c.behind(b))
		}
	}
	c.over[at] = over
	return over
}

// begun reports whether one of the service's acts is over.
func (s *service) begun(over bits) bool {
	return slices.ContainsFunc(createActions, func(a app.Action) bool { return over.has(act{s, a}.number()) })
}

// connect draws the needs between services. Where several steps wait for several others, they meet in one join.
func (c *creation) connect() {
	waiting := map[act]int{}
	for at, on := range c.waits {
		for _, b := range on {
			waiting[b] += len(at.service.nodes)
		}
	}
	joins := map[act][]int{}
	for _, a := range c.list {
		for _, action := range createActions {
			for _, b := range c.waits[act{a, action}] {
				needs := b.service.steps[b.action]
				if len(needs) > 1 && waiting[b] > 1 {
					if joins[b] == nil {
						joins[b] = []int{c.join(everywhere, b.service.name, b.action, needs...)}
					}
					needs = joins[b]
				}
				for _, step := range a.steps[action] {
					c.need(step, needs...)
				}
			}
		}
	}
}

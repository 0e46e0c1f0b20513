package planner

import (
	"slices"

	"muster/app"
	appplan "muster/app/plan"
)

// Planner makes plans. It holds nothing and can be shared.
type Planner struct{}

var _ appplan.Planner = Planner{}

// New returns a planner.
func New() Planner { return Planner{} }

// kinds says how each kind of operation is planned.
var kinds = func() map[app.OperationKind]func(g *graph, r appplan.Request) error {
	kinds := map[app.OperationKind]func(g *graph, r appplan.Request) error{
		app.OperationCreate:        create,
		app.OperationDelete:        remove,
		app.OperationRollBack:      rollBack,
		app.OperationAcceptPartial: acceptPartial,
		app.OperationSleep:         sleep,
		app.OperationWake:          wake,
	}
	for _, kind := range app.Updates {
		kinds[kind] = update
	}
	kinds[app.OperationRun] = run
	return kinds
}()

// Plan orders the work of an operation. It is EInvalid, with a reason, for a kind that is not known ("kind"), nodes
// that share a name ("node"), a service without an entry ("missing_service"), services that wait for each other
// ("cycle"), a configuration whose macros are wrong ("macro", "macro_index"), nodes that say of an update what does not fit
// together ("change"), and steps that cannot be undone ("undo"). Without nodes the plan is empty.
func (Planner) Plan(r appplan.Request) (appplan.Plan, error) {
	plan, ok := kinds[r.Kind]
	if !ok {
		return appplan.Plan{}, refuse("kind", "Operations of kind %q have no plan.", r.Kind)
	}
	r.Nodes = slices.Clone(r.Nodes)
	seen := map[string]bool{}
	for i, n := range r.Nodes {
		if n.Name == "" || seen[n.Name] {
			return appplan.Plan{}, refuse("node", "Node names must be unique and not empty: %q.", n.Name)
		}
		seen[n.Name] = true
		r.Nodes[i].Services, r.Nodes[i].Added, r.Nodes[i].Removed = set(n.Services), set(n.Added), set(n.Removed)
	}
	if r.Kind == app.OperationSleep || r.Kind == app.OperationWake || r.Kind == app.OperationRollBack && powerOf(r.Undo) != "" {
		r.Services = unasked(r.Services)
	}
	g := &graph{nodes: r.Nodes}
	if err := plan(g, r); err != nil {
		return appplan.Plan{}, err
	}
	g.names(r)
	questions := g.markManualSteps(r)
	p := g.plan(r.Kind)
	p.ManualSteps, p.Run = questions, r.Run
	p = withHooks(p, r)
	expect(&p, r)
	withoutBaked(&p, r)
	return p, nil
}

// set returns the names sorted and each once. It copies only where they are not so already, and never changes its input.
func set(names []string) []string {
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			return slices.Compact(slices.Sorted(slices.Values(names)))
		}
	}
	return names
}

func refuse(reason, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Reason = reason
	return e
}

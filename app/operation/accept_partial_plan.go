package operation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/layout"
	appplan "muster/app/plan"
	"muster/app/quarantine"
	"muster/app/template"
)

// partial is an accepted partial result as it is worked out: the cluster as the operation before it wanted it, and as it will be.
type partial struct {
	*updateBuilder
	of    app.Operation       // that is gone on with
	steps []app.Step          // of it, as they are now, without joins
	lost  map[string]string   // by node that did not come: why
	had   map[string][]string // by node that existed before the operation: the services that it had
	shown AcceptPartialPreview
}

// planAcceptPartial works out how to accept the machines that came. It applies where all that failed for good is the making of machines, no
// service of them was begun, and what is there, perhaps with services added to it, keeps the template's constraints. Nothing that was
// placed moves.
func (a *Partials) planAcceptPartial(ctx context.Context, c app.Cluster, o app.Operation, latest bool, ask template.PartialOverride) (*partial, error) {
	ctx, cancel := context.WithTimeout(ctx, layout.SolveTime)
	defer cancel()
	if err := o.MayAcceptPartial(latest); err != nil {
		return nil, err
	}
	stands, err := a.Builder.standing(ctx, c)
	if err != nil {
		return nil, err
	}
	if stands.latest.ID != o.ID {
		return nil, &app.Error{Code: app.EConflict, Reason: "not_the_latest", Message: "A later operation has changed the cluster.", Hint: "See the latest operation."}
	}
	s := &partial{updateBuilder: newUpdateBuilder(stands, cluster.Update{Kind: app.OperationAcceptPartial}), of: o, lost: map[string]string{}}
	published, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	s.catalog = s.view(published)
	if s.steps, err = a.Store.Steps(ctx, c.Tenant, o.ID); err != nil {
		return nil, err
	}
	if err := s.readBefore(ctx, a); err != nil {
		return nil, err
	}
	if err := s.sort(); err != nil {
		return nil, err
	}
	if err := s.enough(ask); err != nil {
		return nil, err
	}
	if err := s.place(ctx, a); err != nil {
		return nil, err
	}
	if err := s.checkConfig(); err != nil {
		return nil, s.lacks(err)
	}
	s.readAnew()
	s.keepStopped()
	if err := s.checkMachines(ctx, a.Builder); err != nil {
		return nil, err
	}
	s.shown.Backfills = !ask.NoBackfill
	return s, s.order(ctx, a, ask.KeepFailed)
}

// keepFailed finds which of the machines that did not come are kept.
func (s *partial) keepFailed(ctx context.Context, a *Partials, keep template.KeepTime) (err error) {
	failed := quarantine.FailedIn(s.steps)
	maps.DeleteFunc(failed, func(node, _ string) bool { return s.lost[node] == "" })
	if len(failed) > 0 {
		if err := a.Builder.noneWithVolumes(ctx, s.Cluster, s.was, s.standing.nodes, failed); err != nil {
			return err
		}
	}
	s.shown.CanKeep = quarantine.Choose(template.DefaultKeepTime, s.standing.nodes, failed, quarantine.MostKept).Nodes()
	if s.shown.Kept, err = a.Keeping.Select(ctx, s.Tenant, keep.Over(s.was.KeepFailed), s.standing.nodes, failed); err != nil {
		return err
	}
	s.shown.Plan.Keeps = s.shown.Kept.Nodes()
	s.shown.Deletes = slices.DeleteFunc(s.shown.Deletes, func(m LostMachine) bool { return slices.Contains(s.shown.Plan.Keeps, m.Node) })
	return nil
}

// readBefore finds what existed before the operation, to tell it from what the operation brought.
func (s *partial) readBefore(ctx context.Context, a *Partials) error {
	s.had = map[string][]string{}
	if s.of.Kind == app.OperationCreate {
		return nil
	}
	before, made, err := a.Store.ChangeOf(ctx, s.Tenant, s.of.ID)
	if err != nil {
		return err
	}
	if len(made.Leaving) > 0 || len(s.left) > 0 {
		return app.PartialUnacceptable("Resume the operation, or roll it back.", "This resize deletes nodes, so there's no partial result to accept.")
	}
	fresh := map[string]bool{}
	for _, n := range made.New {
		fresh[n.Node.Name] = true
	}
	for _, n := range s.standing.nodes {
		if fresh[n.Name] {
			continue
		}
		services := n.Services
		if other, changed := before.Nodes[n.Name]; changed {
			services = other
		}
		s.had[n.Name] = services
	}
	return nil
}

// sort finds which machines came, and refuses where something else failed too.
func (s *partial) sort() error {
	begun := map[string]string{} // by node: a service's step of which an attempt began
	for _, st := range s.steps {
		_, stood := s.had[st.Node]
		switch {
		case st.Node == "" && st.State != app.StepSucceeded: // such as a question to people
			return app.PartialUnacceptable("Resume the operation, or roll it back.", "The remaining steps of %s include a manual step (%s), which can't be skipped.", s.of.Kind.The(), st.ID)
		case st.Action.OnMachine() && st.State != app.StepSucceeded && !stood:
			if s.lost[st.Node] == "" {
				s.lost[st.Node] = cmp.Or(st.Error, st.ID+" isn't done.")
			}
		case st.State == app.StepFailed:
			return app.PartialUnacceptable("Resume the operation, or roll it back.", "Missing machines aren't the only problem: %s also failed: %s", st.ID, st.Error)
		case st.Service != "" && (st.Attempt > 0 || st.State == app.StepSucceeded):
			begun[st.Node] = st.ID
		}
	}
	said := cluster.RepeatedErrors{}
	for _, n := range slices.SortedFunc(maps.Keys(s.lost), health.NodesInOrder) {
		if id := begun[n]; id != "" {
			return app.PartialUnacceptable("Resume the operation, or roll it back.", "%s can't be left out: it failed after its services started installing (%s).", n, id)
		}
		s.shown.Deletes = append(s.shown.Deletes, LostMachine{Node: n, Error: said.Say(n, s.lost[n])})
	}
	if len(s.lost) == 0 {
		return app.PartialUnacceptable("Resume the operation, or roll it back.", "No machine is missing.")
	}
	return nil
}

// enough refuses fewer machines than are wanted at the least.
func (s *partial) enough(ask template.PartialOverride) error {
	s.shown.Operation, s.shown.Target = s.of, len(s.nodes)
	came := len(s.nodes) - len(s.lost)
	switch least := ask.MinAvailable.Of(len(s.nodes)); {
	case came == 0:
		return app.PartialUnacceptable("Resume the operation, or delete the cluster.", "No machine was created.")
	case came < least:
		return app.PartialUnacceptable("Resume the operation, or roll it back.", "Too few machines: of %s, only %d came up (minimum available: %d).", humanize.Count(len(s.nodes), "machine"), came, least)
	}
	return nil
}

// place finds whether the machines that came keep the constraints, perhaps with services added to them.
func (s *partial) place(ctx context.Context, a *Partials) error {
	r := layout.ChangeRequest{Size: len(s.nodes) - len(s.lost)}
	there := map[string]bool{}
	for _, n := range s.existingNodes() {
		if _, lost := s.lost[n.Name]; lost {
			continue
		}
		r.Nodes = append(r.Nodes, n)
		for _, service := range n.Services {
			there[service] = true
		}
	}
	for _, service := range s.services {
		if !there[service] {
			r.Add = append(r.Add, service)
		}
	}
	change, err := a.Builder.changeLayout(ctx, s.updateBuilder, r)
	if err != nil {
		return s.lacks(err)
	}
	will := map[string]layout.ChangedNode{}
	for _, n := range change.Nodes {
		if n.New || n.Deleted || len(n.Removed) > 0 {
			return s.lacks(&app.Error{Code: app.ENoLayout, Message: fmt.Sprintf("%s would have to change, and placed services can't move.", n.Name)})
		}
		will[n.Name] = n
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if _, lost := s.lost[n.Name]; lost {
			n.Change = appplan.NodeGone
			continue
		}
		if w := will[n.Name]; len(w.Added) > 0 {
			n.Services, n.Added, n.Reason = orNone(w.Services), w.Added, w.Why
		}
	}
	return nil
}

// lacks words why the constraints do not hold.
func (s *partial) lacks(err error) error {
	e := *app.AsError(err)
	if e.Code != app.ENoLayout && e.Code != app.EInvalid && e.Code != app.EConflict {
		return err
	}
	came := len(s.nodes) - len(s.lost)
	return app.PartialUnacceptable("Resume the operation, or roll it back.", "%d of %s can't satisfy the template's constraints: %s", came, humanize.Count(len(s.nodes), "machine"), e.ForPeople())
}

// readAnew finds which services have to read the configuration again, since it speaks of nodes that did not come: against what the
// operation wanted where that brought the service, and against what existed before on all other nodes.
func (s *partial) readAnew() {
	config, services := s.definition.Config, s.nodes.after().services()
	var wanted, stood []placedServices
	for _, n := range s.standing.nodes {
		wanted = append(wanted, placedServices{n.Name, n.Services})
		if had, was := s.had[n.Name]; was {
			stood = append(stood, placedServices{n.Name, had})
		}
	}
	var will []placedServices
	for _, n := range s.nodes.after() {
		will = append(will, placedServices{n.Name, n.Services})
	}
	sinceWanted := changedKeys(config, config, movedBetween(wanted, will))
	sinceBefore := changedKeys(config, config, movedBetween(stood, will))
	for _, name := range services {
		service := s.definition.Services[name]
		if service == nil || service.Actions[app.ActionConfigure] == nil {
			continue
		}
		brought, other := reads(name, service, sinceWanted, services), reads(name, service, sinceBefore, services)
		for i := range s.nodes {
			n := &s.nodes[i]
			if !n.Stays() || !slices.Contains(n.Services, name) || slices.Contains(n.Added, name) {
				continue
			}
			if slices.Contains(s.had[n.Name], name) && other || !slices.Contains(s.had[n.Name], name) && brought {
				n.AllWork(name, appplan.WorkReload)
			}
		}
	}
}

// placedServices are the services of a node.
type placedServices struct {
	node     string
	services []string
}

// movedBetween returns the services that are on other nodes than before.
func movedBetween(was, is []placedServices) map[string]bool {
	on := func(list []placedServices) map[string][]string {
		by := map[string][]string{}
		for _, p := range list {
			for _, s := range p.services {
				by[s] = append(by[s], p.node)
			}
		}
		return by
	}
	before, after, moved := on(was), on(is), map[string]bool{}
	for _, by := range []map[string][]string{before, after} {
		for s := range by {
			if !slices.Equal(before[s], after[s]) {
				moved[s] = true
			}
		}
	}
	return moved
}

// order has the plan made, and fills in what is shown.
func (s *partial) order(ctx context.Context, a *Partials, keep template.KeepTime) error {
	r := appplan.Request{Kind: app.OperationAcceptPartial, Services: s.was.Services, Config: s.definition.Config, Went: s.steps, Fallbacks: s.definition.FallbackHardware}
	for _, n := range s.nodes {
		p := appplan.Node{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services, Change: n.Change, Added: n.Added, Work: n.Work}
		if n.Stays() {
			p.Begun = without(without(n.Services, s.had[n.Name]), n.Added)
		}
		r.Nodes = append(r.Nodes, p)
	}
	hooks, err := a.Store.OperationHooks(ctx, s.Tenant, s.of.ID)
	if err != nil {
		return err
	}
	for _, h := range hooks { // those before it have run wherever a service was begun; those after it are still to run
		if h.When == template.HookAfter {
			h.Operations = nil
			r.Hooks = append(r.Hooks, h)
		}
	}
	plan, err := a.Plans.Plan(ctx, s.Tenant, s.Provider, r)
	if err != nil {
		return err
	}
	p := &s.shown
	p.Nodes = s.nodes.after()
	p.Plan = plan
	if err := s.keepFailed(ctx, a, keep); err != nil {
		return err
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), plan.Duration()
	p.Before = cluster.Figures{Nodes: len(s.nodes), CostPerHour: s.CostPerHour, Currency: s.Currency}
	p.After = cluster.Figures{Nodes: len(p.Nodes), CostPerHour: s.cost(), Currency: s.Currency}
	p.Notes = append([]string{}, s.notes...)
	return nil
}

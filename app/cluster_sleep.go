package app

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

// PreviewSleep works out what it would do to put a cluster to sleep, and what policies would say to it. Nothing is accepted or
// written. EConflict where it cannot sleep in the state that it is in, and EInvalid where its provider cannot stop machines and
// keep them.
func (a *App) PreviewSleep(ctx context.Context, actor Actor, cluster string) (AmendPreview, error) {
	c, err := a.look(ctx, actor, "PreviewSleep", cluster)
	if err != nil {
		return AmendPreview{}, err
	}
	return a.previewPower(ctx, actor, c, OperationSleep)
}

// PreviewWake works out what it would do to wake a cluster that sleeps.
func (a *App) PreviewWake(ctx context.Context, actor Actor, cluster string) (AmendPreview, error) {
	c, err := a.look(ctx, actor, "PreviewWake", cluster)
	if err != nil {
		return AmendPreview{}, err
	}
	return a.previewPower(ctx, actor, c, OperationWake)
}

func (a *App) previewPower(ctx context.Context, actor Actor, c Cluster, kind OperationKind) (AmendPreview, error) {
	d, err := a.weighPower(ctx, actor, c, kind)
	if err != nil {
		return AmendPreview{}, err
	}
	return d.preview, nil
}

// SleepCluster stops the services of a cluster and then its machines, with all that is on them. Its lease goes on, and what it takes
// of quotas stays reserved. Policies are asked as by Amend, with the same answers. When planHash is set and the plan is another one
// by now, it is EConflict, reason "plan_changed". A cluster that sleeps already, or is about to, is left as it is.
func (a *App) SleepCluster(ctx context.Context, actor Actor, cluster, planHash string) (AmendAnswer, error) {
	c, err := a.look(ctx, actor, "SleepCluster", cluster)
	if err != nil {
		return AmendAnswer{}, err
	}
	if err := actor.mayChange("SleepCluster", c); err != nil {
		return AmendAnswer{}, err
	}
	return a.power(ctx, actor, c, OperationSleep, planHash)
}

// WakeCluster starts the machines of a cluster that sleeps, and then its services.
func (a *App) WakeCluster(ctx context.Context, actor Actor, cluster, planHash string) (AmendAnswer, error) {
	c, err := a.look(ctx, actor, "WakeCluster", cluster)
	if err != nil {
		return AmendAnswer{}, err
	}
	if err := actor.mayChange("WakeCluster", c); err != nil {
		return AmendAnswer{}, err
	}
	return a.power(ctx, actor, c, OperationWake, planHash)
}

func (a *App) power(ctx context.Context, actor Actor, c Cluster, kind OperationKind, planHash string) (AmendAnswer, error) {
	d, err := a.weighPower(ctx, actor, c, kind)
	switch {
	case err != nil:
		return AmendAnswer{}, err
	case d.preview.Nothing:
		return a.amendAnswer(ctx, actor, c, 0)
	case planHash != "" && planHash != d.preview.PlanHash:
		return AmendAnswer{}, errPlanChanged
	}
	return a.take(ctx, actor, d)
}

// weighPower works a sleep or a wake out and asks the policies.
func (a *App) weighPower(ctx context.Context, actor Actor, c Cluster, kind OperationKind) (*amended, error) {
	d, err := a.planPower(ctx, c, kind)
	if err != nil {
		return nil, err
	}
	return d, a.askPolicies(ctx, actor, d)
}

// drawPower finds what a sleep or a wake does, whether or not the cluster's state allows it now. Nothing is planned yet.
func (a *App) drawPower(ctx context.Context, c Cluster, kind OperationKind, ops []Operation) (*amended, error) {
	definition, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	stands := &standing{Cluster: c, was: definition, nodes: nodes, services: servicesOf(nodes)}
	if len(ops) > 0 {
		stands.latest = ops[0]
	}
	d := newAmended(stands, Amendment{Kind: kind})
	awake, asleep := ClusterFigures{Nodes: len(nodes), CostPerHour: c.CostPerHour}, ClusterFigures{Nodes: len(nodes)}
	d.planned = PlanRequest{Kind: kind, Services: definition.Services, Config: definition.Config}
	work := map[OperationKind]ServiceWork{OperationSleep: WorkStop, OperationWake: WorkStart}[kind]
	d.nodes = []AmendedNode{}
	for _, n := range nodes {
		asleep.CostPerHour += definition.Hardware[n.Hardware].asleepCost()
		node := AmendedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services, Work: map[string]ServiceWork{}}
		for _, s := range n.Services {
			if !definition.IsStopped(n.Name, s) {
				node.Work[s] = work
			}
		}
		d.nodes = append(d.nodes, node)
		d.planned.Nodes = append(d.planned.Nodes, PlanNode{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: slices.Sorted(maps.Keys(node.Work)), Lost: n.Lost()})
	}
	d.preview = AmendPreview{Kind: kind, Changes: []ValueChange{}, Notes: []string{}, Nodes: d.nodes, Plan: Plan{Kind: kind}, Before: awake, After: asleep}
	if kind == OperationWake {
		d.preview.Before, d.preview.After = asleep, awake
	}
	return d, nil
}

// planPower works a sleep or a wake out.
func (a *App) planPower(ctx context.Context, c Cluster, kind OperationKind) (*amended, error) {
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	d, err := a.drawPower(ctx, c, kind, ops)
	if err != nil {
		return nil, err
	}
	want, is := ClusterActive, ClusterAsleep
	if kind == OperationWake {
		want, is = is, want
	}
	p := &d.preview
	switch {
	case c.Status == is, c.Status == ClusterPending && len(ops) > 0 && ops[0].Kind == kind:
		p.Nothing = true
		return d, nil
	case kind == OperationWake && c.Status == ClusterFailed && MaySleep(ops): // a machine that runs already stays as it is
	case c.Status != want:
		return nil, c.refusePower(kind, ops)
	}
	if err := a.checkSleeps(ctx, c); err != nil {
		return nil, err
	}
	if p.Plan, err = a.plan(ctx, c.Tenant, c.Provider, d.planned); err != nil {
		return nil, err
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), p.Plan.Duration()
	p.Notes = powerNotes(c, kind, d.was, d.standing.nodes, math.Abs(p.Before.CostPerHour-p.After.CostPerHour) < 1e-9 && c.CostPerHour > 0)
	return d, nil
}

// asleepCost is the price per hour of a machine that is stopped.
func (f Flavor) asleepCost() float64 {
	if f.AsleepCostPerHour != nil {
		return *f.AsleepCostPerHour
	}
	return f.CostPerHour
}

// checkSleeps refuses a cluster whose provider cannot stop machines, as far as that is known here.
func (a *App) checkSleeps(ctx context.Context, c Cluster) error {
	catalog, err := a.catalogOf(ctx, c.Tenant)
	if err != nil {
		return err
	}
	spec := catalog.Providers[c.Provider]
	if spec == nil || a.Sleeps == nil || a.Sleeps(spec.Type) {
		return nil // a provider that is gone is told of by the steps
	}
	return &Error{Code: EInvalid, Reason: "cannot_sleep", Message: fmt.Sprintf("The provider %s cannot stop machines and keep them.", c.Provider),
		Hint: "Shorten the lease or delete the cluster instead; its spec can be exported and used again."}
}

// refusePower says why a cluster cannot sleep, or wake, as it is.
func (c Cluster) refusePower(kind OperationKind, ops []Operation) *Error {
	cannot := "be " + kind.Verb()
	if kind == OperationWake {
		cannot = "be woken"
	}
	e := &Error{Code: EConflict, Reason: "cluster_" + string(c.Status)}
	switch c.Status {
	case ClusterDeleted:
		e.Message = fmt.Sprintf("Cluster %q is gone.", c.Name)
	case ClusterPending:
		e.Reason, e.Message = "operation_running", fmt.Sprintf("Something is being done with cluster %q, so it cannot %s.", c.Name, cannot)
		if i := slices.IndexFunc(ops, func(o Operation) bool { return !o.Status.Ended() && o.Status != OperationWaiting }); i >= 0 {
			e.Message = fmt.Sprintf("The %s of cluster %q %s, so it cannot %s.", ops[i].Kind.Words(), c.Name, states[ops[i].Status], cannot)
		}
		e.Hint = "Wait until it has ended, or cancel it."
	case ClusterFailed:
		e.Message = fmt.Sprintf("Cluster %q has failed, so it cannot %s.", c.Name, cannot)
		e.Hint = "See what can be done instead: muster cluster show " + c.Name
	default:
		e.Message = fmt.Sprintf("Cluster %q is %s, so it cannot %s.", c.Name, c.Status, cannot)
	}
	return e
}

// powerNotes says what people may not expect.
func powerNotes(c Cluster, kind OperationKind, d Definition, nodes []Node, full bool) []string {
	notes := []string{}
	if kind == OperationWake {
		return append(notes, "Services are configured anew before they start, since machines may come back with other addresses.")
	}
	var bare []string
	for _, s := range servicesOf(nodes) {
		if x := d.Services[s]; x != nil && x.Actions[ActionStart] != nil && x.Actions[ActionStop] == nil {
			bare = append(bare, s)
		}
	}
	if len(bare) > 0 {
		notes = append(notes, fmt.Sprintf("Without an action stop, %s ends with its machine, as if the power went.", andList(bare)))
	}
	if !c.ExpiresAt.IsZero() {
		notes = append(notes, fmt.Sprintf("The lease goes on, and ends %s all the same.", moment(c.ExpiresAt)))
	}
	notes = append(notes, "What it takes of quotas stays reserved, so that it can be woken at any time.")
	if full {
		notes = append(notes, "The catalog says no other price for machines that are stopped, so they cost as much as before.")
	}
	return notes
}

// servicesOf gives the services of nodes, sorted.
func servicesOf(nodes []Node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Services...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

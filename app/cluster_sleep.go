package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// PreviewSleep works out what it would do to put a cluster to sleep. Nothing is accepted or written. EConflict where it cannot sleep
// in the state that it is in, and EInvalid where its provider cannot stop machines and keep them.
func (a *App) PreviewSleep(ctx context.Context, actor Actor, cluster string) (AmendPreview, error) {
	c, err := a.look(ctx, actor, "PreviewSleep", cluster)
	if err != nil {
		return AmendPreview{}, err
	}
	d, err := a.planPower(ctx, c, OperationSleep)
	return d.preview, err
}

// PreviewWake works out what it would do to wake a cluster that sleeps.
func (a *App) PreviewWake(ctx context.Context, actor Actor, cluster string) (AmendPreview, error) {
	c, err := a.look(ctx, actor, "PreviewWake", cluster)
	if err != nil {
		return AmendPreview{}, err
	}
	d, err := a.planPower(ctx, c, OperationWake)
	return d.preview, err
}

// SleepCluster stops the services of a cluster and then its machines, with all that is on them. Its lease goes on, and what it takes
// of quotas stays reserved. When planHash is set and the plan is another one by now, it is EConflict, reason "plan_changed". A
// cluster that sleeps already, or is about to, is left as it is.
func (a *App) SleepCluster(ctx context.Context, actor Actor, cluster, planHash string) (ClusterView, error) {
	c, err := a.look(ctx, actor, "SleepCluster", cluster)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange("SleepCluster", c); err != nil {
		return ClusterView{}, err
	}
	return a.power(ctx, actor, c, OperationSleep, planHash)
}

// WakeCluster starts the machines of a cluster that sleeps, and then its services.
func (a *App) WakeCluster(ctx context.Context, actor Actor, cluster, planHash string) (ClusterView, error) {
	c, err := a.look(ctx, actor, "WakeCluster", cluster)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange("WakeCluster", c); err != nil {
		return ClusterView{}, err
	}
	return a.power(ctx, actor, c, OperationWake, planHash)
}

func (a *App) power(ctx context.Context, actor Actor, c Cluster, kind OperationKind, planHash string) (ClusterView, error) {
	d, err := a.planPower(ctx, c, kind)
	if err != nil {
		return ClusterView{}, err
	}
	p := d.preview
	switch {
	case p.Nothing:
		return a.Cluster(ctx, actor, c.ID)
	case planHash != "" && planHash != p.PlanHash:
		return ClusterView{}, errPlanChanged
	}
	if _, err := a.Store.SubmitOperation(ctx, NewOperation{
		Operation: Operation{Tenant: c.Tenant, Cluster: c.ID, Kind: kind, PlanHash: p.PlanHash, Requester: actor.User, CreatedAt: a.Now(), Expected: p.Duration},
		Plan:      p.Plan, Follows: d.follows,
	}); err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// powerDraft is a sleep or a wake, planned.
type powerDraft struct {
	preview AmendPreview
	follows int64 // the cluster's latest operation
}

func (a *App) planPower(ctx context.Context, c Cluster, kind OperationKind) (d powerDraft, err error) {
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return d, err
	}
	if len(ops) > 0 {
		d.follows = ops[0].ID
	}
	definition, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return d, err
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return d, err
	}
	p := AmendPreview{Kind: kind, Changes: []ValueChange{}, Notes: []string{}, Nodes: []AmendedNode{}, Plan: Plan{Kind: kind}}
	awake, asleep := ClusterFigures{Nodes: len(nodes), CostPerHour: c.CostPerHour}, ClusterFigures{Nodes: len(nodes)}
	r := PlanRequest{Kind: kind, Services: definition.Services, Config: definition.Config}
	work := map[OperationKind]ServiceWork{OperationSleep: WorkStop, OperationWake: WorkStart}[kind]
	for _, n := range nodes {
		asleep.CostPerHour += definition.Hardware[n.Hardware].asleepCost()
		node := AmendedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services, Work: map[string]ServiceWork{}}
		for _, s := range n.Services {
			if !definition.IsStopped(n.Name, s) {
				node.Work[s] = work
			}
		}
		p.Nodes = append(p.Nodes, node)
		r.Nodes = append(r.Nodes, PlanNode{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: slices.Sorted(maps.Keys(node.Work))})
	}
	p.Before, p.After = awake, asleep
	if kind == OperationWake {
		p.Before, p.After = asleep, awake
	}
	want, is := ClusterActive, ClusterAsleep
	if kind == OperationWake {
		want, is = is, want
	}
	switch {
	case c.Status == is, c.Status == ClusterPending && len(ops) > 0 && ops[0].Kind == kind:
		p.Nothing = true
		d.preview = p
		return d, nil
	case c.Status != want:
		return d, c.refusePower(kind, ops)
	}
	if err := a.checkSleeps(c); err != nil {
		return d, err
	}
	if p.Plan, err = a.plan(ctx, c.Tenant, c.Provider, r); err != nil {
		return d, err
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), p.Plan.Duration()
	p.Notes = powerNotes(c, kind, definition, nodes, awake.CostPerHour-asleep.CostPerHour < 1e-9 && awake.CostPerHour > 0)
	d.preview = p
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
func (a *App) checkSleeps(c Cluster) error {
	spec := a.Deps.Catalog().Providers[c.Provider]
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
		e.Hint = "Resume what has failed, roll it back, or delete the cluster."
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

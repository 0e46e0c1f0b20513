package operation

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/policy"
)

// SleepingConfig is what Sleeping is created from.
type SleepingConfig struct {
	Clusters  *appcluster.Finder
	Builder   *Builder
	Submitter *Submitter
}

// Sleeping puts clusters to sleep and wakes them.
type Sleeping struct {
	SleepingConfig
}

// NewSleeping returns Sleeping on top of their needs.
func NewSleeping(c SleepingConfig) *Sleeping { return &Sleeping{SleepingConfig: c} }

// PreviewSleep works out what it would do to put a cluster to sleep, and what policies would say to it. Nothing is accepted or
// written. EConflict where it cannot sleep in the state that it is in, and EInvalid where its provider cannot stop machines and
// keep them.
func (a *Sleeping) PreviewSleep(ctx context.Context, actor app.Actor, cluster string) (appcluster.UpdatePreview, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "PreviewSleep", cluster)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	return a.previewPower(ctx, actor, c, app.OperationSleep)
}

// PreviewWake works out what it would do to wake a cluster that sleeps.
func (a *Sleeping) PreviewWake(ctx context.Context, actor app.Actor, cluster string) (appcluster.UpdatePreview, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "PreviewWake", cluster)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	return a.previewPower(ctx, actor, c, app.OperationWake)
}

func (a *Sleeping) previewPower(ctx context.Context, actor app.Actor, c app.Cluster, kind app.OperationKind) (appcluster.UpdatePreview, error) {
	d, err := a.evaluatePower(ctx, actor, c, kind, true)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	return d.preview, nil
}

// SleepCluster stops the services of a cluster and then its machines, with all that is on them. Its lease continues, and what it takes
// of quotas stays reserved. Policies are asked as by Update, with the same answers. When planHash is set and the plan is another one
// by now, it is EConflict, reason "plan_changed". A cluster that sleeps already, or is about to, is left as it is.
func (a *Sleeping) SleepCluster(ctx context.Context, actor app.Actor, cluster, planHash string) (appcluster.UpdateAnswer, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "SleepCluster", cluster)
	if err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	if err := actor.MayChange("SleepCluster", c); err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	return a.power(ctx, actor, c, app.OperationSleep, planHash)
}

// WakeCluster starts the machines of a cluster that sleeps, and then its services.
func (a *Sleeping) WakeCluster(ctx context.Context, actor app.Actor, cluster, planHash string) (appcluster.UpdateAnswer, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "WakeCluster", cluster)
	if err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	if err := actor.MayChange("WakeCluster", c); err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	return a.power(ctx, actor, c, app.OperationWake, planHash)
}

func (a *Sleeping) power(ctx context.Context, actor app.Actor, c app.Cluster, kind app.OperationKind, planHash string) (appcluster.UpdateAnswer, error) {
	d, err := a.evaluatePower(ctx, actor, c, kind, false)
	switch {
	case err != nil:
		return appcluster.UpdateAnswer{}, err
	case d.preview.NoChanges:
		return a.Submitter.updateAnswer(ctx, actor, c, 0)
	case planHash != "" && planHash != d.preview.PlanHash:
		return appcluster.UpdateAnswer{}, errPlanChanged
	}
	return a.Submitter.take(ctx, actor, d)
}

// evaluatePower works a sleep or a wake out and asks the policies. A dry run is a preview.
func (a *Sleeping) evaluatePower(ctx context.Context, actor app.Actor, c app.Cluster, kind app.OperationKind, dry bool) (*updateBuilder, error) {
	v := policy.Evaluation{Facts: policy.Input{Kind: kind}, DryRun: dry}
	return a.Submitter.evaluate(ctx, actor, v, func(ctx context.Context, _ policy.Fields) (*updateBuilder, error) {
		return a.Builder.planPower(ctx, c, kind)
	})
}

// drawPower finds what a sleep or a wake does, whether or not the cluster's state allows it now. Nothing is planned yet.
func (a *Builder) drawPower(ctx context.Context, c app.Cluster, kind app.OperationKind, ops []app.Operation) (*updateBuilder, error) {
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
		stands.latest, stands.follows = ops[0], ops[0].ID
	}
	d := newUpdateBuilder(stands, appcluster.Update{Kind: kind})
	awake, asleep := appcluster.Figures{Nodes: len(nodes), CostPerHour: c.CostPerHour, Currency: c.Currency}, appcluster.Figures{Nodes: len(nodes), Currency: c.Currency}
	d.planned = plan.Request{Kind: kind, Services: definition.Services, Config: definition.Config}
	work := map[app.OperationKind]plan.ServiceWork{app.OperationSleep: plan.WorkStop, app.OperationWake: plan.WorkStart}[kind]
	d.nodes = []appcluster.UpdatedNode{}
	for _, n := range nodes {
		asleep.CostPerHour += definition.Hardware[n.Hardware].AsleepCost()
		node := appcluster.UpdatedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services, Work: map[string]plan.ServiceWork{}}
		for _, s := range n.Services {
			if !definition.IsStopped(n.Name, s) {
				node.Work[s] = work
			}
		}
		d.nodes = append(d.nodes, node)
		d.planned.Nodes = append(d.planned.Nodes, plan.Node{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: slices.Sorted(maps.Keys(node.Work)), Lost: n.Lost()})
	}
	d.preview = appcluster.UpdatePreview{Kind: kind, Changes: []app.ValueChange{}, Notes: []string{}, Nodes: d.nodes, Plan: plan.Plan{Kind: kind}, Before: awake, After: asleep}
	if kind == app.OperationWake {
		d.preview.Before, d.preview.After = asleep, awake
	}
	return d, nil
}

// planPower works a sleep or a wake out.
func (a *Builder) planPower(ctx context.Context, c app.Cluster, kind app.OperationKind) (*updateBuilder, error) {
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	d, err := a.drawPower(ctx, c, kind, ops)
	if err != nil {
		return nil, err
	}
	want, is := app.ClusterActive, app.ClusterAsleep
	if kind == app.OperationWake {
		want, is = is, want
	}
	p := &d.preview
	switch {
	case c.Status == is, c.Status == app.ClusterPending && len(ops) > 0 && ops[0].Kind == kind:
		p.NoChanges = true
		return d, nil
	case kind == app.OperationWake && c.Status == app.ClusterFailed && appcluster.MaySleep(ops): // a machine that runs already stays as it is
	case c.Status != want:
		return nil, c.RefusePower(kind, ops)
	}
	if err := a.checkSleeps(ctx, c); err != nil {
		return nil, err
	}
	if p.Plan, err = a.Plans.Plan(ctx, c.Tenant, c.Provider, d.planned); err != nil {
		return nil, err
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), p.Plan.Duration()
	p.Notes = powerNotes(c, kind, d.was, d.standing.nodes, math.Abs(p.Before.CostPerHour-p.After.CostPerHour) < 1e-9 && c.CostPerHour > 0)
	return d, nil
}

// checkSleeps refuses a cluster whose provider cannot stop machines, as far as that is known here.
func (a *Builder) checkSleeps(ctx context.Context, c app.Cluster) error {
	catalog, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return err
	}
	spec := catalog.Providers[c.Provider]
	if spec == nil || a.Sleeps == nil || a.Sleeps(spec.Type) {
		return nil // a provider that is gone is notified of by the steps
	}
	return &app.Error{Code: app.EInvalid, Reason: "cannot_sleep", Message: fmt.Sprintf("Provider %s can't stop machines and keep them.", c.Provider),
		Hint: "Shorten the lease or delete the cluster instead. You can export its spec to create the cluster again."}
}

// powerNotes says what people may not expect.
func powerNotes(c app.Cluster, kind app.OperationKind, d appcluster.Definition, nodes []app.Node, full bool) []string {
	notes := []string{}
	if kind == app.OperationWake {
		return append(notes, "Services are reconfigured before they start, since the machines may get new addresses.")
	}
	var bare []string
	for _, s := range servicesOf(nodes) {
		if x := d.Services[s]; x != nil && x.Actions[app.ActionStart] != nil && x.Actions[app.ActionStop] == nil {
			bare = append(bare, s)
		}
	}
	if len(bare) > 0 {
		notes = append(notes, fmt.Sprintf("%s has no stop action and ends abruptly with the machine.", humanize.And(bare)))
	}
	if !c.ExpiresAt.IsZero() {
		notes = append(notes, fmt.Sprintf("The lease still expires %s.", app.Moment(c.ExpiresAt)))
	}
	notes = append(notes, "The cluster's quota stays reserved, so you can wake it at any time.")
	if full {
		notes = append(notes, "Stopped machines cost as much as before: the catalog has no other price for them.")
	}
	return notes
}

// servicesOf returns the services of nodes, sorted.
func servicesOf(nodes []app.Node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Services...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

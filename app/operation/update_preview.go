package operation

import (
	"context"
	"slices"
	"sync"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/policy"
)

// UpdatesConfig is what Updates is created from.
type UpdatesConfig struct {
	Clusters  *appcluster.Finder
	Plans     *appcluster.Plans
	Preflight *appcluster.Preflight
	Solving   *layout.SolveLimit
	Builder   *Builder
	Submitter *Submitter
}

// Updates previews and submits changes of clusters that exist.
type Updates struct {
	UpdatesConfig
}

// NewUpdates returns Updates on top of their needs.
func NewUpdates(c UpdatesConfig) *Updates { return &Updates{UpdatesConfig: c} }

// PreviewUpdate works out what an update of a cluster would do, and what policies would say to it. Nothing is accepted or
// written. EConflict where the cluster cannot be updated in the state that it is in, saying what can be done instead.
func (a *Updates) PreviewUpdate(ctx context.Context, actor app.Actor, cluster string, m appcluster.Update) (appcluster.UpdatePreview, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "PreviewUpdate", cluster)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	if err := actor.MayChange("PreviewUpdate", c); err != nil {
		return appcluster.UpdatePreview{}, err
	}
	if m.Backfill {
		return appcluster.UpdatePreview{}, errBackfill
	}
	leave, err := a.Solving.Enter(ctx, c.Tenant)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	leave = sync.OnceFunc(leave)
	defer leave()
	d, err := a.weighUpdate(ctx, actor, c, m)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	if d.preview.FromPools, err = a.updateOffer(ctx, d); err != nil {
		return appcluster.UpdatePreview{}, err
	}
	leave() // the account may take a moment
	err = a.foreseeUpdate(ctx, d.Tenant, d)
	return d.preview, err
}

// weighUpdate works an update out and asks the policies.
func (a *Updates) weighUpdate(ctx context.Context, actor app.Actor, c app.Cluster, m appcluster.Update) (*updateBuilder, error) {
	d, err := a.Builder.workOut(ctx, c, m)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.onFailure(); err != nil {
		return nil, err
	}
	return d, a.Submitter.askPolicies(ctx, actor, d)
}

// askPolicies has policies decide on what was worked out.
func (a *Submitter) askPolicies(ctx context.Context, actor app.Actor, d *updateBuilder) error {
	policies, err := a.Store.Policies(ctx, actor.Tenant)
	if err != nil {
		return err
	}
	if d.facts, err = a.updateFacts(ctx, actor, d); err != nil || d.preview.NoChanges {
		return err
	}
	d.decision = policy.Decide(ctx, a.Policies.Policies, policies, d.facts)
	if len(d.decision.Said) > 0 {
		d.preview.Decision = &d.decision
	}
	return nil
}

// updateFacts are what policies see of an update: the cluster as it will be, or the most that it may come to be.
func (a *Submitter) updateFacts(ctx context.Context, actor app.Actor, d *updateBuilder) (policy.Input, error) {
	zone, err := a.Policies.TimeZone(ctx, actor.Tenant)
	cost, cpu := d.extra(d.preview.Plan)
	f := policy.Input{
		Tenant: actor.Tenant, User: actor.Name(), Role: actor.Role, Groups: slices.Clone(actor.Groups), Via: actor.Via, Kind: d.ask.Kind,
		Name: d.Name, Template: d.Template, Services: d.nodes.after().services(), Nodes: d.preview.After.Nodes, CPU: d.cpu() + cpu, CostPerHour: d.preview.After.CostPerHour + cost,
		Provider: d.Provider, Labels: d.Labels, Now: a.Now(), TimeZone: zone,
	}
	if !d.ExpiresAt.IsZero() {
		f.Lease = max(0, d.ExpiresAt.Sub(d.CreatedAt))
	}
	for _, n := range d.nodes.after() {
		f.Hardware = append(f.Hardware, n.Hardware)
		if n.Change == plan.NodeNew {
			f.Hardware = append(f.Hardware, d.preview.Plan.Fallbacks[n.Hardware]...)
		}
	}
	slices.Sort(f.Hardware)
	f.Hardware = slices.Compact(f.Hardware)
	return f, err
}

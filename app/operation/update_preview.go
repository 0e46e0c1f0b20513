package operation

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
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
	if err := a.keptAsked(ctx, actor, c, &m); err != nil {
		return appcluster.UpdatePreview{}, err
	}
	d, err := a.weighUpdate(ctx, actor, c, m, true)
	if err != nil {
		return appcluster.UpdatePreview{}, err
	}
	if d.preview.FromPools, err = a.updateOffer(ctx, d); err != nil {
		return appcluster.UpdatePreview{}, err
	}
	err = a.foreseeUpdate(ctx, d.Tenant, d)
	return d.preview, err
}

// weighUpdate works an update out and asks the policies. A dry run is a preview.
func (a *Updates) weighUpdate(ctx context.Context, actor app.Actor, c app.Cluster, m appcluster.Update, dry bool) (*updateBuilder, error) {
	v := policy.Evaluation{Facts: policy.Input{Kind: m.Kind}, DryRun: dry}
	var err error
	if m.Kind == app.OperationResize {
		if v, err = a.Submitter.resizeAsked(ctx, actor, c, m, dry); err != nil {
			return nil, err
		}
	}
	asked := policy.FieldsOf(v.Facts)
	return a.Submitter.evaluate(ctx, actor, v, func(ctx context.Context, f policy.Fields) (*updateBuilder, error) {
		changed := m
		if f != asked {
			if f.Size != asked.Size {
				changed.Size = f.Size
			}
			if f.Hardware != asked.Hardware {
				changed.Hardware = f.Hardware
			}
			if err := sameDirection(c, m.Size, changed.Size); err != nil {
				return nil, err
			}
		}
		if !m.Backfill { // what Muster does on its own doesn't wait
			leave, err := a.Solving.Enter(ctx, c.Tenant)
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		d, err := a.Builder.workOut(ctx, c, changed)
		if err != nil {
			return nil, err
		}
		_, _, err = d.onFailure()
		return d, err
	})
}

// sameDirection refuses a size that makes a growth a shrinking, or nothing, or the other way round: nodes that no one wants deleted stay.
func sameDirection(c app.Cluster, asked, to int) error {
	if asked > c.Size && to <= c.Size || asked < c.Size && asked > 0 && to >= c.Size {
		return &app.Error{Code: app.EInvalid, Field: "size", Message: fmt.Sprintf("Cluster %q has %s already.", c.Name, humanize.Count(c.Size, "node"))}
	}
	return nil
}

// resizeAsked is a resize as policies see it before it is worked out.
func (a *Submitter) resizeAsked(ctx context.Context, actor app.Actor, c app.Cluster, m appcluster.Update, dry bool) (policy.Evaluation, error) {
	f, err := a.factsOf(ctx, actor, c, m.Kind)
	f.Nodes, f.Services, f.Unsolved = m.Size, c.Services, true
	v := policy.Evaluation{Facts: f, DryRun: dry}
	if m.Hardware != "" {
		v.Facts.Hardware = []string{m.Hardware}
	}
	switch {
	case m.Backfill: // it was decided on when the cluster was asked for
		v.Fixed = []policy.Field{policy.FieldSize, policy.FieldHardware}
	case m.KeptMachine != "":
		v.Facts.Nodes = c.Size + 1
		v.Fixed = []policy.Field{policy.FieldSize, policy.FieldHardware}
	case m.Size == 0 || len(m.Nodes) > 0:
		v.Facts.Nodes = c.Size - len(m.Nodes)
		v.Fixed = []policy.Field{policy.FieldSize, policy.FieldHardware}
	case m.Size <= c.Size:
		v.Fixed = []policy.Field{policy.FieldHardware}
	}
	return v, err
}

// evaluate works a change out, with what policies left of it, and has them and webhooks decide.
func (a *Submitter) evaluate(ctx context.Context, actor app.Actor, v policy.Evaluation, work func(context.Context, policy.Fields) (*updateBuilder,
	error)) (d *updateBuilder, err error) {
	if v.Policies, err = a.Store.Policies(ctx, actor.Tenant); err != nil {
		return nil, err
	}
	v.Solve = func(ctx context.Context, f policy.Fields) (facts policy.Input, nothing bool, err error) {
		if d, err = work(ctx, f); err != nil {
			return facts, false, err
		}
		facts, err = a.updateFacts(ctx, actor, d)
		return facts, d.preview.NoChanges, err
	}
	decision, facts, err := a.Policies.Evaluate(ctx, v)
	if err != nil {
		return nil, err
	}
	if d.facts, d.decision = facts, decision; len(decision.Said) > 0 {
		d.preview.Decision = &d.decision
	}
	if d.preview.NoChanges || d.decision.Outcome == policy.OutcomeRefuse {
		return d, nil
	}
	needApproval(d)
	return d, a.foreseeWindow(ctx, actor.User, d, d.decision.Outcome == policy.OutcomeApprove)
}

// factsOf are the facts of a change that are known before it is worked out.
func (a *Submitter) factsOf(ctx context.Context, actor app.Actor, c app.Cluster, kind app.OperationKind) (policy.Input, error) {
	zone, err := a.Policies.TimeZone(ctx, actor.Tenant)
	f := policy.Input{
		Tenant: actor.Tenant, User: actor.Name(), Role: actor.Role, Groups: slices.Clone(actor.Groups), Via: actor.Via, Kind: kind,
		Name: c.Name, Template: c.Template, Provider: c.Provider, Labels: c.Labels, Now: a.Now(), TimeZone: zone,
	}
	if !c.ExpiresAt.IsZero() {
		f.Lease = max(0, c.ExpiresAt.Sub(c.CreatedAt))
	}
	return f, err
}

// updateFacts are what policies see of an update: the cluster as it will be, or the most that it may come to be.
func (a *Submitter) updateFacts(ctx context.Context, actor app.Actor, d *updateBuilder) (policy.Input, error) {
	f, err := a.factsOf(ctx, actor, d.Cluster, d.ask.Kind)
	cost, cpu := d.extra(d.preview.Plan)
	f.Services, f.Nodes, f.CPU, f.CostPerHour = d.nodes.after().services(), d.preview.After.Nodes, d.cpu()+cpu, d.preview.After.CostPerHour+cost
	f.NewHardware = []string{}
	for _, n := range d.nodes.after() {
		f.Hardware = append(f.Hardware, n.Hardware)
		if n.Change == plan.NodeNew {
			f.Hardware = append(f.Hardware, d.preview.Plan.Fallbacks[n.Hardware]...)
			f.NewHardware = append(f.NewHardware, n.Hardware)
		}
	}
	for _, list := range []*[]string{&f.Hardware, &f.NewHardware} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return f, err
}

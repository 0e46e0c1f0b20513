package operation

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/quarantine"
	"muster/app/template"
	"muster/app/window"
)

// SubmitterStore is what Submitter needs of the database.
type SubmitterStore interface {
	// SaveRequest writes one that was refused, or waits. EConflict where an open one of the tenant has the name.
	SaveRequest(ctx context.Context, n appcluster.NewRequest) (appcluster.Request, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	SubmitOperation(ctx context.Context, n appcluster.NewOperation) (app.Operation, error)
}

// SubmitterConfig is what Submitter is created from.
type SubmitterConfig struct {
	Store    SubmitterStore
	Now      func() time.Time
	Keys     app.Keys
	Policies *policy.Service
	Views    *appcluster.Views
	Windows  *window.Service
	Keeping  *quarantine.Drafts
}

// Submitter asks the policies about a change that was worked out, and has it carried out or keeps the request that waits.
type Submitter struct {
	SubmitterConfig
}

// NewSubmitter returns Submitter on top of their needs.
func NewSubmitter(c SubmitterConfig) *Submitter { return &Submitter{SubmitterConfig: c} }

// Update changes an existing cluster, as PreviewUpdate has shown. The change is worked out again, policies are asked, and then it is
// one of
//
//   - accepted: operation, plan and what happens to the cluster are written in one transaction
//   - waiting for approvals, or for a maintenance window: the request is written; nothing is done
//   - refused by a policy: EForbidden, reason "policy", with the policy's own words. The request is kept nevertheless
//
// Where nothing is to be done, the answer is the cluster as it is. When m.PlanHash is set and the plan is another one by now, it
// is EConflict, reason "plan_changed", and nothing happens.
func (a *Updates) Update(ctx context.Context, actor app.Actor, cluster string, m appcluster.Update) (appcluster.UpdateAnswer, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Update", cluster)
	if err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	if err := actor.MayChange(m.Kind.UseCase(), c); err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	if m.Backfill {
		return appcluster.UpdateAnswer{}, errBackfill
	}
	if err := mayAct(ctx, a.Builder.Store, actor, c, m.Action); err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	return a.update(ctx, actor, c, m)
}

var errBackfill = appcluster.InvalidUpdate("backfill", "Only Muster can set backfill.", "Omit it. To request missing nodes now, use the cluster's backfill command.")

// update is Update of someone who may.
func (a *Updates) update(ctx context.Context, actor app.Actor, c app.Cluster, m appcluster.Update) (appcluster.UpdateAnswer, error) {
	if err := a.keptAsked(ctx, actor, c, &m); err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	d, err := a.weighUpdate(ctx, actor, c, m, false)
	if err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	if m.PlanHash != "" && m.PlanHash != d.preview.PlanHash {
		return appcluster.UpdateAnswer{}, errPlanChanged
	}
	if m.Volumes != "" { // an operation takes the choice with it: one that is refused, or waits, changes nothing
		if err := actor.MayChange("ChooseVolumes", c); err != nil {
			return appcluster.UpdateAnswer{}, err
		}
	}
	if d.preview.NoChanges {
		if m.Volumes != "" {
			if err := a.Builder.Store.ChooseVolumes(ctx, actor, c.ID, m.Volumes, a.Submitter.Now()); err != nil {
				return appcluster.UpdateAnswer{}, err
			}
		}
		return a.Submitter.updateAnswer(ctx, actor, c, 0)
	}
	return a.Submitter.take(ctx, actor, d)
}

// take does what was worked out and decided on: an operation begins, or a request is written.
func (a *Submitter) take(ctx context.Context, actor app.Actor, d *updateBuilder) (appcluster.UpdateAnswer, error) {
	switch q := d.request(actor); d.decision.Outcome {
	case policy.OutcomeRefuse:
		q.Request.Status, q.Request.EndedAt, q.Request.Message = appcluster.RequestRefused, q.Request.RequestedAt, d.decision.Reason
		kept, err := a.Store.SaveRequest(ctx, q)
		if err != nil {
			return appcluster.UpdateAnswer{}, err
		}
		return appcluster.UpdateAnswer{Request: &kept}, appcluster.RefusedBy(d.decision, kept.ID)
	case policy.OutcomeApprove:
		q.Open(d.keep(), d.decision.Needs)
		kept, err := a.Store.SaveRequest(ctx, q)
		if err != nil {
			return appcluster.UpdateAnswer{}, err
		}
		return appcluster.UpdateAnswer{Request: &kept}, nil
	}
	if d.window.Waits {
		q := d.request(actor)
		q.Schedule(d.keep(), *d.window.Window)
		kept, err := a.Store.SaveRequest(ctx, q)
		if err != nil {
			return appcluster.UpdateAnswer{}, err
		}
		return appcluster.UpdateAnswer{Request: &kept}, nil
	}
	n, err := a.updateOperation(ctx, d, actor.User)
	if err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	if actor.Via == app.ViaServer && actor.User == app.IdleUser {
		n.Idle = &appcluster.IdleEnd{PerHour: d.preview.Before.CostPerHour - d.preview.After.CostPerHour}
	}
	op, err := a.Store.SubmitOperation(ctx, n)
	if err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	return a.updateAnswer(ctx, actor, d.Cluster, op.ID)
}

func (a *Submitter) updateAnswer(ctx context.Context, actor app.Actor, c app.Cluster, operation int64) (appcluster.UpdateAnswer, error) {
	v, err := a.Views.Cluster(ctx, actor, c.ID)
	return appcluster.UpdateAnswer{Cluster: &v, Operation: operation}, err
}

// updateOperation makes what the store is to accept: the operation, and what it makes of the cluster.
func (a *Submitter) updateOperation(ctx context.Context, d *updateBuilder, who string) (appcluster.NewOperation, error) {
	p := d.preview
	kept, err := a.Keeping.Draft(ctx, d.Cluster, d.was, d.kept, false)
	if err != nil {
		return appcluster.NewOperation{}, err
	}
	choice, partial, err := d.onFailure()
	if err != nil {
		return appcluster.NewOperation{}, err
	}
	n := appcluster.NewOperation{
		Operation: app.Operation{Tenant: d.Tenant, Cluster: d.ID, Kind: p.Kind, PlanHash: p.PlanHash, OnFailure: choice, Requester: who,
			MinAvailable: partial.MinAvailable.Of(p.After.Nodes), NoBackfill: partial.NoBackfill, CreatedAt: a.Now(), Expected: p.Duration},
		Plan: p.Plan, Follows: d.follows, Backfill: d.ask.Backfill, Keep: kept, Volumes: d.ask.Volumes,
	}
	if !d.redefined() && !slices.ContainsFunc(d.nodes, appcluster.UpdatedNode.Moves) {
		return n, nil
	}
	change := &appcluster.Change{Template: d.Template, Definition: d.definition, Size: p.After.Nodes, Services: d.nodes.after().services(),
		CostPerHour: p.After.CostPerHour, Nodes: map[string][]string{}}
	// What is done to services that go, or to nodes that do, is done by the entries from before.
	change.Definition.Services = d.entries()
	for _, node := range d.nodes {
		switch {
		case node.Change == plan.NodeNew:
			change.New = append(change.New, d.newNode(node))
		case node.Change == plan.NodeGone:
			change.Leaving = append(change.Leaving, node.Name)
		case len(node.Removed) > 0 || node.Change == "" && len(without(node.Services, d.node(node.Name).Services)) > 0:
			change.Nodes[node.Name] = node.Services
		}
	}
	if d.reused != nil {
		change.Kept, change.KeptAs = d.reused.ID, d.reused.as
	}
	if len(change.New)+len(change.Leaving) > 0 || d.volumeCost > 0 {
		change.Reservation = policy.Reservation{Nodes: p.After.Nodes, CPU: d.cpu(), CostPerHour: p.After.CostPerHour, VolumeCost: d.volumeCost}
	}
	n.Change = change
	return n, appcluster.GiveHostKeys(a.Keys, change.New)
}

// onFailure is what happens where it fails. What the template says of machines that do not come is for growths only.
func (d *updateBuilder) onFailure() (app.FailureChoice, template.PartialOverride, error) {
	if d.finishes() {
		return app.FailureLeave, template.PartialOverride{}, nil // as of every repair
	}
	if d.ask.Kind != app.OperationResize || d.preview.After.Nodes <= d.preview.Before.Nodes {
		if d.ask.OnFailure == app.FailureStay || d.ask.OnFailure.GoesOn() {
			return app.FailureLeave, template.PartialOverride{}, nil // where nothing grows all machines are there
		}
		return d.ask.OnFailure, template.PartialOverride{}, nil
	}
	return d.definition.PartialResults.Resolved(d.ask.OnFailure, d.ask.PartialOverride, d.preview.After.Nodes)
}

// entries are those of the services before and after; those after win.
func (d *updateBuilder) entries() map[string]*template.Service {
	all := map[string]*template.Service{}
	for _, n := range d.nodes {
		for _, name := range n.Removed {
			all[name] = d.all[name]
		}
	}
	for name, s := range d.was.Services {
		all[name] = s
	}
	for name, s := range d.definition.Services {
		all[name] = s
	}
	return all
}

func (d *updateBuilder) newNode(n appcluster.UpdatedNode) app.NewNode {
	node := app.Node{Cluster: d.ID, Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services, Status: app.NodePlanned,
		SSHUser: cmp.Or(d.definition.Images[n.Image].SSHUser, "root")}
	node.Hostname = app.Hostname(d.ID, n.Name, d.DNSSuffix)
	return app.NewNode{Node: node, Intent: strings.ToLower(rand.Text()), NoPool: noPool(d, n.Name)}
}

// without returns the names of a that are not in b.
func without(a, b []string) (out []string) {
	for _, name := range a {
		if !slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}

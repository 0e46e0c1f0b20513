package operation

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/window"
)

// request is what is kept of the asking, whatever becomes of it.
func (d *updateBuilder) request(actor app.Actor) cluster.NewRequest {
	p := d.preview
	said := d.ask
	said.Config, said.PlanHash = nil, ""
	terms := cluster.Terms{PlanHash: p.PlanHash, Layout: d.layout(), Steps: p.Plan.Acts(), Duration: p.Duration, People: p.Plan.PeopleInWords(), Expects: p.Plan.Expects, CPU: d.facts.CPU,
		Updated: &cluster.UpdateTerms{Update: said, Title: p.Title(), Before: p.Before, After: p.After, Effects: p.Effects(), Changes: p.Changes, Notes: p.Notes}}
	if left := d.ExpiresAt.Sub(d.facts.Now); !d.ExpiresAt.IsZero() && left > 0 {
		terms.Lease, terms.Cost = left, p.After.CostPerHour*left.Hours()
	}
	return cluster.NewRequest{Who: actor, Request: cluster.Request{
		Tenant: actor.Tenant, Kind: d.ask.Kind, Cluster: d.ID, Requester: actor.Name(), Owner: actor.User, Groups: actor.Groups, Via: actor.Via,
		RequestedAt: d.facts.Now, Facts: d.facts, Decision: d.decision, Terms: terms,
		Spec: cluster.CreateRequest{Name: d.Name, Request: layout.Request{Template: d.Template, Size: p.After.Nodes, Provider: d.Provider}, OnFailure: d.ask.OnFailure},
	}}
}

// layout is the cluster's layout afterwards, as layouts are shown.
func (d *updateBuilder) layout() layout.Layout {
	l := layout.Layout{Provider: d.Provider, CostPerHour: d.preview.After.CostPerHour, Currency: d.Currency}
	for _, n := range d.nodes.after() {
		price := d.definition.Hardware[n.Hardware].CostPerHour
		if d.ask.Kind == app.OperationSleep {
			price = d.definition.Hardware[n.Hardware].AsleepCost()
		}
		i := slices.IndexFunc(l.Groups, func(g layout.NodeGroup) bool {
			return g.Hardware == n.Hardware && g.Image == n.Image && g.Zone == n.Zone && slices.Equal(g.Services, n.Services)
		})
		if i < 0 {
			i = len(l.Groups)
			l.Groups = append(l.Groups, layout.NodeGroup{Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services})
		}
		l.Groups[i].Count++
		l.Groups[i].CostPerHour += price
	}
	if extra, _ := d.extra(d.preview.Plan); extra > 0 {
		l.MostPerHour = l.CostPerHour + extra
	}
	return l
}

// keep is what the update is worked out from again when it was approved, and what it has to come to then.
func (d *updateBuilder) keep() cluster.RequestPayload {
	m := d.ask
	m.PlanHash = ""
	return cluster.RequestPayload{Definition: d.definition, PlanHash: d.preview.PlanHash, Hooks: d.preview.Plan.Hooks, Update: &m, Follows: d.follows, Owner: d.Owner}
}

// readyUpdate works an update that was approved out again. EConflict, reason "cluster_changed", where that does not give just what
// was shown: then the request is to end.
func (a *Requests) readyUpdate(ctx context.Context, r cluster.Request) (n cluster.NewOperation, wait window.Wait, err error) {
	k, err := a.Store.RequestPayload(ctx, r.Tenant, r.ID)
	if err != nil {
		return n, wait, err
	}
	if k.Update == nil {
		return n, wait, app.Errorf(app.EInternal, "request %d doesn't say what to change", r.ID)
	}
	if err := a.checkRequester(ctx, r); err != nil {
		return n, wait, err
	}
	c, err := a.Store.Cluster(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return n, wait, err
	}
	if err := a.notLocked(ctx, c, r, k.Update.Backfill); err != nil {
		return n, wait, err
	}
	d, err := a.Builder.workOutAgain(ctx, c, *k.Update, k.Definition)
	switch {
	case app.CodeOf(err) == app.EConflict && passes(app.AsError(err).Reason, r):
		return n, wait, err
	case err != nil && app.CodeOf(err) != app.EInternal && app.CodeOf(err) != app.ETransient && app.CodeOf(err) != app.ETimeout:
		return n, wait, clusterChanged(app.AsError(err).ForPeople())
	case err != nil:
		return n, wait, err
	}
	if err := a.stillIll(ctx, r, d); err != nil {
		return n, wait, err
	}
	if d.preview.NoChanges {
		return n, wait, clusterChanged("")
	}
	now := d.keep()
	same, err := a.Plans.IsPlan(d.preview.Plan, d.planned, r.Terms.PlanHash)
	if err != nil {
		return n, wait, err
	}
	now.PlanHash = r.Terms.PlanHash // which is that of the same plan, see IsPlan
	if onlyPassed(d.ops, k.Follows) {
		now.Follows = k.Follows
	}
	if !same || now.Seal() != r.Terms.Seal || k.Seal() != r.Terms.Seal {
		return n, wait, clusterChanged("")
	}
	if wait, err = a.Windows.Wait(ctx, d.windowChange(r.Owner, len(r.Approvals) > 0)); err != nil {
		return n, wait, err
	}
	n, err = a.Submitter.updateOperation(ctx, d, r.Owner)
	return n, wait, err
}

// notLocked has a request wait while its cluster is locked, except for those of admins and of Muster itself.
func (a *Requests) notLocked(ctx context.Context, c app.Cluster, r cluster.Request, backfill bool) error {
	if c.Lock == nil || backfill || ownRequest(r) {
		return nil
	}
	u, err := a.Store.User(ctx, r.Tenant, r.Owner)
	if err == nil && u.Role.Rules() || err != nil && app.CodeOf(err) != app.ENotFound {
		return err
	}
	return &app.Error{Code: app.EConflict, Reason: app.Locked, Message: fmt.Sprintf("Cluster %q can't be changed now. %s", c.Name, c.Lock.Words()),
		Hint: "Try again when the cluster is unlocked. The request keeps waiting."}
}

// workOutAgain works out what waited for approvals.
func (a *Builder) workOutAgain(ctx context.Context, c app.Cluster, m cluster.Update, was cluster.Definition) (*updateBuilder, error) {
	if m.Kind == app.OperationSleep || m.Kind == app.OperationWake {
		return a.planPower(ctx, c, m.Kind)
	}
	return a.workOutFrom(ctx, c, m, &was)
}

func clusterChanged(why string) error {
	e := &app.Error{Code: app.EConflict, Reason: "cluster_changed", Message: "The cluster or the catalog has changed since this request, so Muster didn't make the change.",
		Hint: "The request has ended. Check a new preview and submit again."}
	if why != "" {
		e.Message += " " + why
	}
	return e
}

// lapse ends a request that cannot be carried out as it was shown any more.
func (a *Requests) lapse(ctx context.Context, r cluster.Request, why error) error {
	_, err := a.Store.MoveRequest(ctx, cluster.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: cluster.RequestLapse, Who: app.System(r.Tenant, app.Retrier), Now: a.Now(),
		Reason: cutReason(app.AsError(why).ForPeople())})
	if app.CodeOf(err) == app.EConflict { // someone was faster
		err = nil
	}
	return err
}

func cutReason(text string) string {
	for len(text) > cluster.MostReason {
		text = humanize.CutText(text, len([]rune(text))*3/4)
	}
	return text
}

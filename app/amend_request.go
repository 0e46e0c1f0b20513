package app

import (
	"context"
	"fmt"
	"slices"
)

// AmendTerms are what an amendment that was asked for comes to, for those who decide on it.
type AmendTerms struct {
	Amendment Amendment      `json:"amendment"` // the configuration is left out, since it may hold secrets; see Changes
	Title     string         `json:"title"`
	Before    ClusterFigures `json:"before"`
	After     ClusterFigures `json:"after"`
	Effects   []string       `json:"effects,omitempty"`
	Changes   []ValueChange  `json:"changes,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
}

// request is what is kept of the asking, whatever becomes of it.
func (d *amended) request(actor Actor) NewRequest {
	p := d.preview
	said := d.ask
	said.Config, said.PlanHash = nil, ""
	terms := Terms{PlanHash: p.PlanHash, Layout: d.layout(), Steps: p.Plan.Acts(), Duration: p.Duration, People: p.Plan.PeopleInWords(), Expects: p.Plan.Expects, CPU: d.facts.CPU,
		Amended: &AmendTerms{Amendment: said, Title: p.Title(), Before: p.Before, After: p.After, Effects: p.Effects(), Changes: p.Changes, Notes: p.Notes}}
	if left := d.ExpiresAt.Sub(d.facts.Now); !d.ExpiresAt.IsZero() && left > 0 {
		terms.Lease, terms.Cost = left, p.After.CostPerHour*left.Hours()
	}
	return NewRequest{Who: actor, Request: Request{
		Tenant: actor.Tenant, Kind: d.ask.Kind, Cluster: d.ID, Requester: actor.Name(), Owner: actor.User, Groups: actor.Groups, Via: actor.Via,
		AskedAt: d.facts.Now, Facts: d.facts, Decision: d.decision, Terms: terms,
		Asked: ClusterRequest{Name: d.Name, LayoutRequest: LayoutRequest{Template: d.Template, Size: p.After.Nodes, Provider: d.Provider}, OnFailure: d.ask.OnFailure},
	}}
}

// layout is how the cluster stands afterwards, as layouts are shown.
func (d *amended) layout() Layout {
	l := Layout{Provider: d.Provider, CostPerHour: d.preview.After.CostPerHour}
	for _, n := range d.after() {
		price := d.definition.Hardware[n.Hardware].CostPerHour
		if d.ask.Kind == OperationSleep {
			price = d.definition.Hardware[n.Hardware].asleepCost()
		}
		i := slices.IndexFunc(l.Groups, func(g NodeGroup) bool {
			return g.Hardware == n.Hardware && g.Image == n.Image && g.Zone == n.Zone && slices.Equal(g.Services, n.Services)
		})
		if i < 0 {
			i = len(l.Groups)
			l.Groups = append(l.Groups, NodeGroup{Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services})
		}
		l.Groups[i].Count++
		l.Groups[i].CostPerHour += price
	}
	if extra, _ := d.extra(d.preview.Plan); extra > 0 {
		l.MostPerHour = l.CostPerHour + extra
	}
	return l
}

// keep is what the amendment is worked out from again when it was approved, and what it has to come to then.
func (d *amended) keep() Kept {
	m := d.ask
	m.PlanHash = ""
	return Kept{Definition: d.definition, PlanHash: d.preview.PlanHash, Hooks: d.preview.Plan.Hooks, Amendment: &m, Follows: d.latest.ID, Owner: d.Owner}
}

// open makes it a request that waits, with what is needed to run it later.
func (n *NewRequest) open(k Kept, needs []Need) {
	r := &n.Request
	r.Status, r.Needs, n.Kept = RequestWaiting, needs, &k
	r.Decision.Needs = nil
	r.Terms.Seal = k.seal()
	for _, need := range r.Needs {
		after := need.ExpireAfter
		if after <= 0 {
			after = defaultExpiry
		}
		if at := r.AskedAt.Add(after); r.ExpiresAt.IsZero() || at.Before(r.ExpiresAt) {
			r.ExpiresAt = at
		}
	}
	r.DueAt = r.due()
}

// readyAmend works an amendment that was approved out anew. EConflict, reason "cluster_changed", where that does not give just what
// was shown: then the request is to end.
func (a *App) readyAmend(ctx context.Context, r Request) (NewOperation, error) {
	k, err := a.Store.KeptRequest(ctx, r.Tenant, r.ID)
	if err != nil {
		return NewOperation{}, err
	}
	if k.Amendment == nil {
		return NewOperation{}, Errorf(EInternal, "request %d does not say what is to be amended", r.ID)
	}
	if err := a.checkRequester(ctx, r); err != nil {
		return NewOperation{}, err
	}
	c, err := a.Store.Cluster(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return NewOperation{}, err
	}
	d, err := a.workOutAgain(ctx, c, *k.Amendment)
	switch {
	case CodeOf(err) == EConflict && AsError(err).Reason == "operation_running":
		return NewOperation{}, err // which may come to nothing
	case err != nil && CodeOf(err) != EInternal && CodeOf(err) != ETransient && CodeOf(err) != ETimeout:
		return NewOperation{}, clusterChanged(AsError(err).ForPeople())
	case err != nil:
		return NewOperation{}, err
	}
	if d.preview.Nothing {
		return NewOperation{}, clusterChanged("")
	}
	now := d.keep()
	same, err := a.isPlan(d.preview.Plan, d.planned, r.Terms.PlanHash)
	if err != nil {
		return NewOperation{}, err
	}
	now.PlanHash = r.Terms.PlanHash // which is that of the same plan, see isPlan
	if !same || now.seal() != r.Terms.Seal || k.seal() != r.Terms.Seal {
		return NewOperation{}, clusterChanged("")
	}
	return a.amendOperation(d, r.Owner)
}

// workOutAgain works out what waited for approvals.
func (a *App) workOutAgain(ctx context.Context, c Cluster, m Amendment) (*amended, error) {
	if m.Kind == OperationSleep || m.Kind == OperationWake {
		return a.planPower(ctx, c, m.Kind)
	}
	return a.workOut(ctx, c, m)
}

func clusterChanged(why string) error {
	e := &Error{Code: EConflict, Reason: "cluster_changed", Message: "The cluster, or what the catalog says of it, has changed since this was asked for, so nothing was done.",
		Hint: "The request has ended. Look at a new preview, and ask again."}
	if why != "" {
		e.Message += " " + why
	}
	return e
}

// lapse ends a request that cannot be carried out as it was shown any more.
func (a *App) lapse(ctx context.Context, r Request, why error) error {
	_, err := a.Store.MoveRequest(ctx, RequestMove{Tenant: r.Tenant, ID: r.ID, Act: RequestLapse, Who: system(r.Tenant, retrier), Now: a.Now(),
		Reason: cutReason(AsError(why).ForPeople())})
	if CodeOf(err) == EConflict { // somebody was faster
		err = nil
	}
	return err
}

func cutReason(text string) string {
	for len(text) > mostReason {
		text = CutText(text, len([]rune(text))*3/4)
	}
	return text
}

// noConditions refuses to offer something else than was asked for.
func (r Request) noConditions() error {
	if r.Kind == OperationCreate {
		return nil
	}
	return &Error{Code: EInvalid, Field: "verdict", Reason: "no_conditions", Message: fmt.Sprintf("There are no conditions for what becomes of a cluster that stands (%s).", r.Kind.Words()),
		Hint: "Approve it as it is, or deny it and say what would be all right."}
}

// endLapsed is what becomes of a request whose cluster has changed.
func (r *Request) endLapsed(m RequestMove) (o RequestOutcome) {
	r.Status, r.Message = RequestExpired, firstOf(m.Reason, "The cluster has changed since.")
	o.Notices = r.tellExpired(m.Now)
	return o
}

package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Conditions are what an approver wants otherwise: a smaller number of nodes, a shorter lease, or both. Zero leaves it.
type Conditions struct {
	Size  int           `json:"size,omitempty" minimum:"0" maximum:"100000" doc:"Fewer nodes; 0: as asked"`
	Lease time.Duration `json:"lease,omitempty" minimum:"0" doc:"A shorter lease, in nanoseconds; 0: as asked"`
}

// ReviewRequest is what an approver says about a request. PlanHash is that of the request as it was shown.
type ReviewRequest struct {
	Verdict    Verdict    `json:"verdict" enum:"approve,deny,conditions"`
	Reason     string     `json:"reason,omitempty" maxLength:"1000"`
	PlanHash   string     `json:"plan_hash,omitempty" maxLength:"64"`
	Conditions Conditions `json:"conditions,omitzero"`
}

// Review says yes, no, or yes with conditions to a request that waits. One no ends it; when the last approval is there, it
// runs at once, in the same transaction. EForbidden for who asked, for who is not meant (reason "not_approver") and, where the
// risk is high, for who has not just proved who he is ("step_up"). EConflict where another plan was shown.
func (a *App) Review(ctx context.Context, actor Actor, id int64, v ReviewRequest) (Request, error) {
	if err := actor.may("Review"); err != nil {
		return Request{}, err
	}
	m := RequestMove{Tenant: actor.Tenant, ID: id, Who: actor, PlanHash: v.PlanHash, Reason: v.Reason}
	switch v.Verdict {
	case VerdictApprove:
		m.Act = RequestApprove
	case VerdictDeny:
		m.Act = RequestDeny
	case VerdictConditions:
		m.Act = RequestOffer
		var err error
		if m.Offer, m.Kept, err = a.offer(ctx, actor, id, v); err != nil {
			return Request{}, err
		}
	default:
		return Request{}, &Error{Code: EInvalid, Field: "verdict", Message: fmt.Sprintf("There is no verdict %.40q.", string(v.Verdict)),
			Hint: "One of: approve, deny, conditions."}
	}
	return a.move(ctx, m)
}

// offer solves and prices a request anew, with an approver's conditions.
func (a *App) offer(ctx context.Context, actor Actor, id int64, v ReviewRequest) (*Offer, *Kept, error) {
	r, err := a.request(ctx, actor, id)
	if err != nil {
		return nil, nil, err
	}
	// Whoever may not say anything shall not find out what could be had either.
	probe := r
	if _, err := probe.Move(RequestMove{Act: RequestOffer, Who: actor, Now: a.Now(), PlanHash: v.PlanHash, Reason: v.Reason, Offer: &Offer{}, Kept: &Kept{}}); err != nil {
		return nil, nil, err
	}
	if err := r.noConditions(); err != nil {
		return nil, nil, err
	}
	k, err := a.Store.KeptRequest(ctx, actor.Tenant, id)
	if err != nil {
		return nil, nil, err
	}
	asked, c := k.Request, v.Conditions
	size := k.Layout.Size()
	switch {
	case c.Size < 0 || c.Size > size, c.Size == size && c.Lease == 0:
		return nil, nil, &Error{Code: EInvalid, Field: "conditions.size", Message: fmt.Sprintf("%d nodes were asked for; an offer has fewer, never more.", size),
			Hint: "Say a smaller number, or leave it out."}
	case c.Lease < 0 || k.Lease > 0 && c.Lease > k.Lease, c.Lease > 0 && c.Lease == k.Lease && c.Size == 0:
		return nil, nil, &Error{Code: EInvalid, Field: "conditions.lease", Message: fmt.Sprintf("A lease of %s was asked for; an offer has a shorter one, never a longer.", leaseWords(k.Lease)),
			Hint: "Say a shorter time, or leave it out."}
	case c.Size == 0 && c.Lease == 0:
		return nil, nil, &Error{Code: EInvalid, Field: "conditions", Message: "There are no conditions.", Hint: "Say fewer nodes or a shorter lease, or approve it as it is."}
	}
	if c.Size > 0 {
		asked.Size = c.Size
	}
	lease := k.Lease
	if c.Lease > 0 {
		lease = c.Lease
	}
	asked.Lease = &lease
	if k.Lease == 0 && lease == 0 {
		asked.Lease = k.Request.Lease
	}
	d, p, err := a.prepare(ctx, actor.Tenant, asked)
	if err != nil {
		return nil, nil, err
	}
	kept, terms := keep(weighed{request: asked, draft: d, preview: p}), termsOf(d, p)
	terms.Seal = kept.seal()
	// Policies have the last word about an offer too: they may not want so few nodes.
	policies, err := a.Store.Policies(ctx, actor.Tenant)
	if err != nil {
		return nil, nil, err
	}
	f := r.Facts
	f.Nodes, f.CPU, f.CostPerHour, f.Lease, f.Provider = p.Layout.Size(), terms.CPU, p.Layout.CostPerHour, p.Lease, p.Layout.Provider
	if said := Decide(ctx, a.Policies, policies, f); said.Outcome == OutcomeRefuse {
		return nil, nil, &Error{Code: EForbidden, Reason: "policy", Message: said.Reason, Hint: "That is what the policy " + said.Policy + " says of such an offer."}
	}
	return &Offer{Terms: terms, By: actor.Name(), At: a.Now(), Reason: v.Reason}, &kept, nil
}

// Confirm takes what was offered to the actor. It runs at once where nobody else has to approve.
func (a *App) Confirm(ctx context.Context, actor Actor, id int64, planHash string) (Request, error) {
	if err := actor.may("Confirm"); err != nil {
		return Request{}, err
	}
	return a.move(ctx, RequestMove{Tenant: actor.Tenant, ID: id, Act: RequestConfirm, Who: actor, PlanHash: planHash})
}

// Withdraw ends a request that is open, for who asked and for admins. To turn an offer down is to withdraw.
func (a *App) Withdraw(ctx context.Context, actor Actor, id int64, reason string) (Request, error) {
	if err := actor.may("Withdraw"); err != nil {
		return Request{}, err
	}
	return a.move(ctx, RequestMove{Tenant: actor.Tenant, ID: id, Act: RequestWithdraw, Who: actor, Reason: reason})
}

// BreakGlass lets a request that waits run at once, without approvals, for admins and the members of the group that a policy
// names. It takes a reason of at least 10 letters and a fresh proof of who it is, and raises an alarm.
func (a *App) BreakGlass(ctx context.Context, actor Actor, id int64, planHash, reason string) (Request, error) {
	if err := actor.may("BreakGlass"); err != nil {
		return Request{}, err
	}
	return a.move(ctx, RequestMove{Tenant: actor.Tenant, ID: id, Act: RequestBreak, Who: actor, PlanHash: planHash, Reason: reason})
}

// mostMoves is how often a move is tried whose request changes meanwhile so that it would run after all.
const mostMoves = 4

// move carries a move out. What would run is made ready first, outside of the transaction, since keys take time.
func (a *App) move(ctx context.Context, m RequestMove) (r Request, err error) {
	m.Now = a.Now()
	for range mostMoves {
		before, err := a.request(ctx, m.Who, m.ID)
		if err != nil {
			return Request{}, err
		}
		probe := before
		o, err := probe.Move(m)
		if err != nil {
			return Request{}, err
		}
		m.Cluster, m.Operation = nil, nil
		if o.Run {
			err := a.makeReady(ctx, &m, before)
			if CodeOf(err) == ENotFound {
				continue // it has just ended, and says so at the next look
			}
			if err != nil {
				return Request{}, err
			}
		}
		r, err = a.Store.MoveRequest(ctx, m)
		if !errors.Is(err, ErrNotReady) {
			return r, err
		}
	}
	return Request{}, ErrNotReady
}

// makeReady makes what runs with a move. An amendment that cannot run as it was shown, since its cluster has changed, ends by that.
func (a *App) makeReady(ctx context.Context, m *RequestMove, r Request) error {
	if r.Kind == OperationCreate {
		n, err := a.ready(ctx, r)
		m.Cluster = &n
		return err
	}
	n, err := a.readyAmend(ctx, r)
	m.Operation = &n
	if err != nil && AsError(err).Reason == "cluster_changed" {
		if lapsed := a.lapse(ctx, r, err); lapsed != nil {
			return lapsed
		}
	}
	return err
}

// ready makes what a request needs to run: just what was shown. The definition and the layout that were kept are planned
// again; EConflict where that gives another plan, or where they are not what was kept.
func (a *App) ready(ctx context.Context, r Request) (NewCluster, error) {
	changed := &Error{Code: EConflict, Reason: "plan_changed", Message: "What would run is not what was shown, so nothing was made.",
		Hint: "Deny or withdraw the request, and ask anew."}
	k, err := a.Store.KeptRequest(ctx, r.Tenant, r.ID)
	if err != nil {
		return NewCluster{}, err
	}
	terms := r.Terms
	if r.Status == RequestOffered && r.Offer != nil {
		if k.Offer == nil {
			return NewCluster{}, changed
		}
		k, terms = *k.Offer, r.Offer.Terms
	}
	if k.PlanHash != terms.PlanHash || k.seal() != terms.Seal {
		return NewCluster{}, changed
	}
	if err := a.checkStanding(ctx, r.Tenant, k); err != nil {
		return NewCluster{}, err
	}
	if err := a.checkRequester(ctx, r); err != nil {
		return NewCluster{}, err
	}
	ask := PlanRequest{Kind: r.Kind, Nodes: PlanNodes(k.Layout), Services: k.Definition.Services, Config: k.Definition.Config, Hooks: k.Hooks, Fallbacks: k.Definition.FallbackHardware}
	plan, err := a.plan(ctx, r.Tenant, k.Layout.Provider, ask)
	if err != nil {
		return NewCluster{}, err
	}
	if same, err := a.isPlan(plan, ask, terms.PlanHash); err != nil || !same {
		return NewCluster{}, errOr(err, changed)
	}
	owner := Actor{Tenant: r.Tenant, User: r.Owner, Groups: r.Groups}
	n, err := a.newCluster(ctx, owner, k.Request, draft{definition: k.Definition, dnsSuffix: k.DNSSuffix, catalog: k.OwnCatalog},
		Preview{Layout: k.Layout, Plan: plan, PlanHash: terms.PlanHash, Duration: plan.Duration(), Lease: k.Lease, Cost: terms.Cost})
	n.Reservation.Request = r.ID // what it holds already becomes the cluster's
	return n, err
}

// checkStanding refuses what cannot be carried out any more: the provider has left the catalog, or nobody speaks to it.
func (a *App) checkStanding(ctx context.Context, tenant string, k Kept) error {
	c, err := a.catalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	p := c.Providers[k.Layout.Provider]
	if p == nil {
		return &Error{Code: EConflict, Reason: "plan_changed", Message: fmt.Sprintf("The provider %q is not in the catalog any more.", k.Layout.Provider),
			Hint: "Deny or withdraw the request, and ask anew."}
	}
	return a.checkProvisioner(ctx, tenant, p)
}

// checkRequester refuses to make something for an account that is gone or disabled by now. Who asked from another tenant has
// none here, and Muster itself needs none.
func (a *App) checkRequester(ctx context.Context, r Request) error {
	if r.Requester != r.Owner || r.Via == ViaServer && (r.Owner == scheduler || r.Owner == HealthUser) {
		return nil
	}
	u, err := a.Store.User(ctx, r.Tenant, r.Owner)
	if CodeOf(err) == ENotFound || err == nil && u.Disabled() {
		return &Error{Code: EConflict, Reason: "requester_gone", Message: fmt.Sprintf("%s, who asked, has no account any more, or a disabled one.", r.Requester), Hint: "Deny the request."}
	}
	return err
}

// tendRequests ends, reminds of and escalates requests for which it is time, of all tenants.
func (a *App) tendRequests(ctx context.Context) error {
	due, err := a.Store.RequestsDue(ctx, a.Now(), tidyAtOnce)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range due {
		_, err := a.Store.MoveRequest(ctx, RequestMove{Tenant: r.Tenant, ID: r.ID, Act: RequestTend, Who: system(r.Tenant, retrier), Now: a.Now()})
		if err != nil && CodeOf(err) != EConflict && CodeOf(err) != ENotFound {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

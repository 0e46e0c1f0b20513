package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	appplan "muster/app/plan"
	"muster/app/policy"
	"muster/app/window"
)

// RequestStore is what Requests needs of the database.
type RequestStore interface {
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	// RequestPayload returns what is needed to run it; ENotFound where it is not open.
	RequestPayload(ctx context.Context, tenant string, id int64) (cluster.RequestPayload, error)
	// MoveRequest applies a move, as Request.Move says, and writes all that follows in one transaction: the request, its
	// review, notices, an audit row, and where the request runs now its cluster with operation and plan. ErrNotReady where
	// it would run and m.Cluster is nil: make one and try again.
	MoveRequest(ctx context.Context, m cluster.RequestMove) (cluster.Request, error)
	// OpenRequestsBare returns those that are open and have a greater number than after, oldest first, with nothing but what WaitsFor looks at.
	OpenRequestsBare(ctx context.Context, tenant string, after int64, limit int) ([]cluster.Request, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	// ReadableRequest is Request for one that the reader may see: it asked, would own the cluster, may decide or could have,
	// has reviewed, or sees the cluster.
	ReadableRequest(ctx context.Context, r app.ClusterReader, id int64) (cluster.Request, error)
	// Requests returns them with reviews, newest first.
	Requests(ctx context.Context, tenant string, f cluster.RequestFilter) ([]cluster.Request, error)
	// RequestsDue returns open ones, of all tenants, that need attention by now.
	RequestsDue(ctx context.Context, now time.Time, limit int) ([]cluster.Request, error)
	// RequestsNumbered returns those with the given numbers, oldest first.
	RequestsNumbered(ctx context.Context, tenant string, ids []int64) ([]cluster.Request, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
}

// RequestsConfig is what Requests is created from.
type RequestsConfig struct {
	Store     RequestStore
	Now       func() time.Time
	Catalogs  *catalog.Service
	Policies  *policy.Service
	Clusters  *cluster.Finder
	Masks     *cluster.Masks
	Plans     *cluster.Plans
	Preflight *cluster.Preflight
	Creates   *cluster.Creates
	Builder   *Builder
	Submitter *Submitter
	Windows   *window.Service
}

// Requests lists and decides on what policies want approved, and runs it then.
type Requests struct {
	RequestsConfig
}

// NewRequests returns Requests on top of their needs.
func NewRequests(c RequestsConfig) *Requests { return &Requests{RequestsConfig: c} }

// Conditions are what an approver wants otherwise: a smaller number of nodes, a shorter lease, or both. Zero leaves it.
type Conditions struct {
	Size  int           `json:"size,omitempty"`
	Lease time.Duration `json:"lease,omitempty"`
}

// ReviewRequest is what an approver says about a request. PlanHash is that of the request as it was shown.
type ReviewRequest struct {
	Verdict    cluster.ReviewDecision `json:"decision"`
	Reason     string                 `json:"reason,omitempty"`
	PlanHash   string                 `json:"plan_hash,omitempty"`
	Conditions Conditions             `json:"conditions,omitzero"`
}

// Review says yes, no, or yes with conditions to a request that waits. One no ends it; when the last approval is there, it
// runs at once, in the same transaction. EForbidden for who asked, for who is not meant (reason "not_approver") and, where the
// risk is high, for who has not just proved who he is ("step_up"). EConflict where another plan was shown.
func (a *Requests) Review(ctx context.Context, actor app.Actor, id int64, v ReviewRequest) (cluster.Request, error) {
	if err := actor.Authorize("Review"); err != nil {
		return cluster.Request{}, err
	}
	m := cluster.RequestMove{Tenant: actor.Tenant, ID: id, Who: actor, PlanHash: v.PlanHash, Reason: v.Reason}
	switch v.Verdict {
	case cluster.VerdictApprove:
		m.Act = cluster.RequestApprove
	case cluster.VerdictDeny:
		m.Act = cluster.RequestDeny
	case cluster.VerdictConditions:
		m.Act = cluster.RequestOffer
		var err error
		if m.Offer, m.Kept, err = a.offer(ctx, actor, id, v); err != nil {
			return cluster.Request{}, err
		}
	default:
		return cluster.Request{}, &app.Error{Code: app.EInvalid, Field: "decision", Message: fmt.Sprintf("Unknown decision %.40q.", string(v.Verdict)),
			Hint: "Use approve, deny or conditions."}
	}
	return a.move(ctx, m)
}

// offer solves and prices a request again, with an approver's conditions.
func (a *Requests) offer(ctx context.Context, actor app.Actor, id int64, v ReviewRequest) (*cluster.Offer, *cluster.RequestPayload, error) {
	r, err := a.request(ctx, actor, id)
	if err != nil {
		return nil, nil, err
	}
	// Those who may not review don't learn what is available either.
	probe := r
	if _, err := probe.Move(cluster.RequestMove{Act: cluster.RequestOffer, Who: actor, Now: a.Now(), PlanHash: v.PlanHash, Reason: v.Reason, Offer: &cluster.Offer{}, Kept: &cluster.RequestPayload{}}); err != nil {
		return nil, nil, err
	}
	if err := r.NoConditions(); err != nil {
		return nil, nil, err
	}
	k, err := a.Store.RequestPayload(ctx, actor.Tenant, id)
	if err != nil {
		return nil, nil, err
	}
	asked, c := k.Request, v.Conditions
	size := k.Layout.Size()
	switch {
	case c.Size < 0 || c.Size > size, c.Size == size && c.Lease == 0:
		return nil, nil, &app.Error{Code: app.EInvalid, Field: "conditions.size", Message: fmt.Sprintf("Conditions can't increase the size: %d nodes were requested.", size),
			Hint: "Enter a smaller number, or omit the size."}
	case c.Lease < 0 || k.Lease > 0 && c.Lease > k.Lease, c.Lease > 0 && c.Lease == k.Lease && c.Size == 0:
		return nil, nil, &app.Error{Code: app.EInvalid, Field: "conditions.lease", Message: fmt.Sprintf("Conditions can't lengthen the lease: %s was requested.", policy.LeaseText(k.Lease)),
			Hint: "Enter a shorter lease, or omit it."}
	case c.Size == 0 && c.Lease == 0:
		return nil, nil, &app.Error{Code: app.EInvalid, Field: "conditions", Message: "Conditions are required.", Hint: "Offer fewer nodes or a shorter lease, or approve the request as it is."}
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
	d, p, err := a.Creates.Prepare(ctx, actor.Tenant, asked)
	if err != nil {
		return nil, nil, err
	}
	kept, terms := cluster.Keep(cluster.Evaluation{Request: asked, Draft: d, Preview: p}), cluster.TermsOf(d, p)
	terms.Seal = kept.Seal()
	// Policies have the last word about an offer too: they may not want so few nodes.
	policies, err := a.Store.Policies(ctx, actor.Tenant)
	if err != nil {
		return nil, nil, err
	}
	f := r.Facts
	f.Nodes, f.CPU, f.CostPerHour, f.Lease, f.Provider = p.Layout.Size(), terms.CPU, p.Layout.CostPerHour, p.Lease, p.Layout.Provider
	if said := policy.Decide(ctx, a.Policies.Policies, policies, f); said.Outcome == policy.OutcomeRefuse {
		return nil, nil, &app.Error{Code: app.EForbidden, Reason: "policy", Message: said.Reason, Hint: policy.SourceText(said.Policy) + " refuses these conditions."}
	}
	return &cluster.Offer{Terms: terms, By: actor.Name(), At: a.Now(), Reason: v.Reason}, &kept, nil
}

// Confirm takes what was offered to the actor. It runs at once where no one else has to approve.
func (a *Requests) Confirm(ctx context.Context, actor app.Actor, id int64, planHash string) (cluster.Request, error) {
	if err := actor.Authorize("Confirm"); err != nil {
		return cluster.Request{}, err
	}
	return a.move(ctx, cluster.RequestMove{Tenant: actor.Tenant, ID: id, Act: cluster.RequestConfirm, Who: actor, PlanHash: planHash})
}

// Withdraw ends a request that is open, for who asked and for admins. To turn an offer down is to withdraw.
func (a *Requests) Withdraw(ctx context.Context, actor app.Actor, id int64, reason string) (cluster.Request, error) {
	if err := actor.Authorize("Withdraw"); err != nil {
		return cluster.Request{}, err
	}
	return a.move(ctx, cluster.RequestMove{Tenant: actor.Tenant, ID: id, Act: cluster.RequestWithdraw, Who: actor, Reason: reason})
}

// BreakGlass lets a request that waits run at once, without approvals, for admins and the members of the group that a policy
// names. It takes a reason of at least 10 letters and a fresh proof of who it is, and raises an alarm.
func (a *Requests) BreakGlass(ctx context.Context, actor app.Actor, id int64, planHash, reason string) (cluster.Request, error) {
	if err := actor.Authorize("BreakGlass"); err != nil {
		return cluster.Request{}, err
	}
	return a.move(ctx, cluster.RequestMove{Tenant: actor.Tenant, ID: id, Act: cluster.RequestBreak, Who: actor, PlanHash: planHash, Reason: reason})
}

// mostMoves is how often a move is tried whose request changes meanwhile so that it would run after all.
const mostMoves = 4

// move carries a move out. What would run is made ready first, outside of the transaction, since keys take time.
func (a *Requests) move(ctx context.Context, m cluster.RequestMove) (r cluster.Request, err error) {
	m.Now = a.Now()
	for range mostMoves {
		before, err := a.request(ctx, m.Who, m.ID)
		if err != nil {
			return cluster.Request{}, err
		}
		probe := before
		o, err := probe.Move(m)
		if err != nil {
			return cluster.Request{}, err
		}
		m.Cluster, m.Operation, m.Window = nil, nil, nil
		if o.Run {
			err := a.makeReady(ctx, &m, before)
			if app.CodeOf(err) == app.ENotFound {
				continue // it has just ended, and says so at the next look
			}
			if err != nil {
				return cluster.Request{}, err
			}
		}
		r, err = a.Store.MoveRequest(ctx, m)
		if !errors.Is(err, cluster.ErrNotReady) {
			return r, err
		}
	}
	return cluster.Request{}, cluster.ErrNotReady
}

// makeReady makes what runs with a move. An update that cannot run as it was shown, since its cluster has changed, ends by that.
func (a *Requests) makeReady(ctx context.Context, m *cluster.RequestMove, r cluster.Request) error {
	if r.Kind == app.OperationCreate {
		n, err := a.ready(ctx, r)
		m.Cluster = &n
		return err
	}
	n, wait, err := a.readyUpdate(ctx, r)
	m.Operation = &n
	if wait.Waits && m.Act != cluster.RequestBreak && m.Act != cluster.RequestRunNow {
		m.Window = wait.Window
	}
	if err != nil && app.AsError(err).Reason == "cluster_changed" {
		if lapsed := a.lapse(ctx, r, err); lapsed != nil {
			return lapsed
		}
	}
	return err
}

var errKeptChanged = &app.Error{Code: app.EConflict, Reason: "plan_changed",
	Message: "The plan has changed since the request was shown, so nothing was created.",
	Hint:    "Deny or withdraw this request and submit a new one."}

// ready makes what a request needs to run: just what was shown. The definition and the layout that were kept are planned
// again; EConflict where that returns another plan, or where they are not what was kept.
func (a *Requests) ready(ctx context.Context, r cluster.Request) (cluster.NewCluster, error) {
	k, err := a.Store.RequestPayload(ctx, r.Tenant, r.ID)
	if err != nil {
		return cluster.NewCluster{}, err
	}
	terms := r.Terms
	if r.Status == cluster.RequestOffered && r.Offer != nil {
		if k.Offer == nil {
			return cluster.NewCluster{}, errKeptChanged
		}
		k, terms = *k.Offer, r.Offer.Terms
	}
	if k.PlanHash != terms.PlanHash || k.Seal() != terms.Seal {
		return cluster.NewCluster{}, errKeptChanged
	}
	if err := a.checkRequester(ctx, r); err != nil {
		return cluster.NewCluster{}, err
	}
	owner := app.Actor{Tenant: r.Tenant, User: r.Owner, Groups: r.Groups}
	first := k
	if k.Places != nil {
		first = k.Places.Payloads[0]
	}
	n, err := a.FromPayload(ctx, owner, first)
	if err == nil && k.Places != nil {
		n.TryIn(*k.Places, "", 0)
	}
	n.Reservation.Request = r.ID // what it holds already becomes the cluster's
	return n, err
}

// FromPayload makes a cluster of what was kept of a request: it is planned again, and EConflict, reason plan_changed, where that returns another plan.
func (a *Requests) FromPayload(ctx context.Context, owner app.Actor, k cluster.RequestPayload) (cluster.NewCluster, error) {
	if err := a.checkStanding(ctx, owner.Tenant, k); err != nil {
		return cluster.NewCluster{}, err
	}
	nodes := appplan.Nodes(k.Layout)
	for i, n := range nodes {
		if image := k.Definition.Baked.Of(n.Name); image != nil {
			nodes[i].Baked = image.Services
		}
	}
	ask := appplan.Request{Kind: app.OperationCreate, Nodes: nodes, Services: k.Definition.Services, Config: k.Definition.Config,
		Hooks: k.Hooks, Fallbacks: k.Definition.FallbackHardware}
	plan, err := a.Plans.Plan(ctx, owner.Tenant, k.Layout.Provider, ask)
	if err != nil {
		return cluster.NewCluster{}, err
	}
	if same, err := a.Plans.IsPlan(plan, ask, k.PlanHash); err != nil || !same {
		return cluster.NewCluster{}, cluster.ErrOr(err, errKeptChanged)
	}
	return a.Creates.DraftCluster(ctx, owner, k.Request, cluster.Draft{Definition: k.Definition, DnsSuffix: k.DNSSuffix, Catalog: k.TenantCatalog},
		cluster.Preview{Layout: k.Layout, Plan: plan, PlanHash: k.PlanHash, Duration: plan.Duration(), Lease: k.Lease})
}

// checkStanding refuses what cannot be carried out any more: the provider has left the catalog, or no one speaks to it.
func (a *Requests) checkStanding(ctx context.Context, tenant string, k cluster.RequestPayload) error {
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	p := c.Providers[k.Layout.Provider]
	if p == nil {
		return &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: fmt.Sprintf("Provider %q is no longer in the catalog.", k.Layout.Provider),
			Hint: "Deny or withdraw this request and submit a new one."}
	}
	return a.Preflight.CheckProvisioner(ctx, tenant, p)
}

// ownRequest reports whether Muster itself has requested it.
func ownRequest(r cluster.Request) bool {
	return r.Via == app.ViaServer && slices.Contains([]string{scheduler, app.HealthUser, app.IdleUser, app.ScalingUser}, r.Owner)
}

// checkRequester refuses to make something for an account that is gone or disabled by now. Who asked from another tenant has
// none here, and Muster itself needs none.
func (a *Requests) checkRequester(ctx context.Context, r cluster.Request) error {
	if r.Requester != r.Owner || ownRequest(r) {
		return nil
	}
	u, err := a.Store.User(ctx, r.Tenant, r.Owner)
	if app.CodeOf(err) == app.ENotFound || err == nil && u.Disabled() {
		return &app.Error{Code: app.EConflict, Reason: "requester_gone", Message: fmt.Sprintf("The account of the requester, %s, was disabled or deleted.", r.Requester), Hint: "Deny the request."}
	}
	return err
}

// ReconcileRequests ends, reminds of and escalates requests for which it is time, of all tenants, and starts those whose maintenance window
// is open.
func (a *Requests) ReconcileRequests(ctx context.Context) error {
	due, err := a.Store.RequestsDue(ctx, a.Now(), cluster.TidyAtOnce)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range due {
		if r.Status == cluster.RequestScheduled {
			errs = append(errs, a.startScheduled(ctx, r))
			continue
		}
		_, err := a.Store.MoveRequest(ctx, cluster.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: cluster.RequestReconcile, Who: app.System(r.Tenant, app.Retrier), Now: a.Now()})
		if err != nil && app.CodeOf(err) != app.EConflict && app.CodeOf(err) != app.ENotFound {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

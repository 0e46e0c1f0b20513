package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/window"
)

// RequestStatus is the state of a request in one word.
type RequestStatus string

// The states. Only waiting, offered and scheduled are not the end.
const (
	RequestAccepted  RequestStatus = "accepted"  // it runs, or has run: see its cluster
	RequestRefused   RequestStatus = "refused"   // by a policy
	RequestWaiting   RequestStatus = "waiting"   // for approvals
	RequestScheduled RequestStatus = "scheduled" // nothing is missing but that its maintenance window opens
	RequestOffered   RequestStatus = "offered"   // approved with conditions: who asked has to confirm
	RequestDenied    RequestStatus = "denied"    // by a person
	RequestExpired   RequestStatus = "expired"   // no one decided in time
	RequestWithdrawn RequestStatus = "withdrawn" // by who asked, or by an admin
)

// RequestStatuses are all of them.
var RequestStatuses = []RequestStatus{RequestWaiting, RequestOffered, RequestScheduled, RequestAccepted, RequestRefused, RequestDenied, RequestExpired,
	RequestWithdrawn}

// Open reports whether it has not ended: someone still has to decide, or it waits for its window.
func (s RequestStatus) Open() bool {
	return s == RequestWaiting || s == RequestOffered || s == RequestScheduled
}

// Request is what someone asked for. It is kept forever. One that is open is not in the ledger and holds no worker.
type Request struct {
	ID          int64             `json:"id"`
	Tenant      string            `json:"tenant"`
	Kind        app.OperationKind `json:"kind"`
	Cluster     string            `json:"cluster,omitempty"` // its id; "" until it is made
	Requester   string            `json:"requester"`         // see Actor.Name
	Owner       string            `json:"owner"`             // of what is made
	Groups      []string          `json:"groups,omitempty"`
	Via         app.Via           `json:"via,omitempty"`
	RequestedAt time.Time         `json:"requested_at"`
	EndedAt     time.Time         `json:"ended_at,omitzero"`
	Status      RequestStatus     `json:"status"`
	// Spec is the request as it was made, without the configuration, since that may hold secrets.
	Spec     CreateRequest   `json:"spec"`
	Facts    policy.Input    `json:"facts"`
	Decision policy.Decision `json:"decision"`
	// Terms are what is approved, and what runs.
	Terms     Terms                     `json:"terms"`
	Approvals []policy.RequiredApproval `json:"required_approvals,omitempty"`
	Round     int                       `json:"round"` // how often the terms were changed by conditions
	Reviews   []Review                  `json:"reviews,omitempty"`
	Offer     *Offer                    `json:"offer,omitempty"` // while it is offered

	ExpiresAt time.Time `json:"expires_at,omitzero"` // while it is open
	DueAt     time.Time `json:"-"`                   // when it needs attention next; zero: never
	// Window is the maintenance window that it waits for, or last waited for.
	Window   *window.Opening `json:"window,omitempty"`
	Override bool            `json:"emergency_override,omitempty"`
	Message  string          `json:"message,omitempty"` // why it is as it is
}

// Terms are what a request comes to.
type Terms struct {
	PlanHash string          `json:"plan_hash"`
	Expects  app.Expectation `json:"expects,omitzero"`
	Layout   layout.Layout   `json:"layout"`
	Steps    int             `json:"steps"`
	Duration time.Duration   `json:"duration"` // estimate
	// People is what the duration does not say, such as "plus waiting for a person (up to 2 h)"; "" where no one is asked.
	People string        `json:"people,omitempty"`
	Lease  time.Duration `json:"lease"` // 0: forever
	Cost   float64       `json:"cost,omitempty"`
	CPU    float64       `json:"cpu,omitempty"` // virtual cores, as far as they are known
	// VolumeCost is what new volumes cost per hour, on top of the layout.
	VolumeCost float64 `json:"volume_cost,omitempty"`
	// Seal is the digest of all that was kept to be run: layout, definition, lease.
	Seal string `json:"seal,omitempty"`
	// Updated is what happens to an existing cluster; the layout is then that of afterwards, and the lease what is left of it.
	Updated *UpdateTerms `json:"updated,omitempty"`
	// Places are the candidates of a request for one of several places, in their order.
	Places []layout.Candidate `json:"places,omitempty"`
}

// Offer is terms that an approver proposes instead.
type Offer struct {
	Terms
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// ReviewDecision is what an approver says.
type ReviewDecision string

// The verdicts.
const (
	VerdictApprove    ReviewDecision = "approve"
	VerdictDeny       ReviewDecision = "deny"
	VerdictConditions ReviewDecision = "conditions" // yes, but with fewer nodes or a shorter lease
	VerdictBreak      ReviewDecision = "break_glass"
)

// Review is what someone said about a request, and in which round. Counts are the policies whose approval it counts for.
type Review struct {
	Reviewer string         `json:"reviewer"`
	At       time.Time      `json:"at"`
	Decision ReviewDecision `json:"decision"`
	Reason   string         `json:"reason,omitempty"`
	Round    int            `json:"round"`
	PlanHash string         `json:"plan_hash,omitempty"` // that was shown
	Counts   []string       `json:"counts,omitempty"`
}

// RequestPayload is what a request needs to be run later just as it was shown. It is dropped when the request ends.
type RequestPayload struct {
	Request    CreateRequest `json:"request"`
	Definition Definition    `json:"definition"`
	DNSSuffix  string        `json:"dns_suffix"`
	Layout     layout.Layout `json:"layout"`
	Lease      time.Duration `json:"lease"`
	PlanHash   string        `json:"plan_hash"`
	// Hooks are those whose scripts the plan runs: what was shown, whatever the tenant's hooks are by then.
	Hooks []template.OperationHook `json:"hooks,omitempty"`
	// TenantCatalog is the revision of the tenant's own entries that it was worked out by.
	TenantCatalog int64 `json:"own_catalog,omitempty"`
	// Of an update: what was asked for, the cluster's latest operation at that time, and its owner.
	Update  *Update         `json:"update,omitempty"`
	Follows int64           `json:"follows,omitempty"`
	Owner   string          `json:"owner,omitempty"`
	Offer   *RequestPayload `json:"offer,omitempty"` // the same of an offer
	// Places are, of a request for one of several places, what is needed in each, in their order. The rest is that of the first.
	Places *PlaceSet `json:"places,omitempty"`
}

// Seal is the digest of what was kept, without an offer. It is hex, 64 digits.
func (k RequestPayload) Seal() string {
	k.Offer, k.Request.ProviderValues = nil, nil // a digest must not say what a secret is
	b, err := json.Marshal(k)
	if err != nil {
		panic("app: what is kept of a request holds only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// NewRequest is a request about to be written. Kept is nil unless it is open.
type NewRequest struct {
	Request Request
	Kept    *RequestPayload
	Who     app.Actor
	Build   *app.BuildClaim // that it is for, nil for none
}

// Answer is what happened to an asking: a cluster, or a request that waits.
type Answer struct {
	Request Request `json:"request"`
	Cluster *View   `json:"cluster,omitempty"`
	// Warnings are to be read though it was taken, such as that the template is deprecated.
	Warnings []string `json:"warnings,omitempty"`
}

// RequestView says which requests of a list are wanted.
type RequestView string

// The views.
const (
	RequestsMine  RequestView = "mine"
	RequestsInbox RequestView = "inbox" // those that wait for me: to approve, or to confirm
	RequestsAll   RequestView = "all"
)

// RequestFilter narrows a list. Lists are newest first.
type RequestFilter struct {
	View      RequestView   // "" means all
	Status    RequestStatus // "" means any
	Requester string        // "" means anybody
	Bare      bool          // of the inbox: nothing but what says whom they wait for, for those who count them
	Open      bool          // only those that someone still has to decide on
	Before    int64         // only those with a smaller number; 0: from the newest on
	Limit     int           // 0: 100; at most 1000

	Reader *app.ClusterReader // only what it may see; nil: all. The service sets it.
}

// ErrNotReady says that a move would let a request run, and that nothing was made ready for that.
var ErrNotReady = &app.Error{Code: app.ETransient, Reason: "not_ready", Message: "The request has just changed.", Hint: "Try again."}

// Reservation is what it takes of quotas while it is open. An update takes nothing until it runs.
func (r Request) Reservation() policy.Reservation {
	q := policy.Reservation{Tenant: r.Tenant, Request: r.ID, Owner: r.Owner, Groups: r.Groups, Nodes: r.Terms.Layout.Size(), CPU: r.Terms.CPU,
		CostPerHour: r.Terms.Layout.CostPerHour + r.Terms.VolumeCost, VolumeCost: r.Terms.VolumeCost, From: r.RequestedAt}
	if r.Terms.Lease > 0 {
		q.Until = r.RequestedAt.Add(r.Terms.Lease)
	}
	return q
}

// want returns the needs that are not met.
func (r Request) want() []policy.RequiredApproval {
	return slices.DeleteFunc(slices.Clone(r.Approvals), policy.RequiredApproval.Met)
}

// WaitsFor reports whether a request waits for someone: to approve it, or to confirm what was offered.
func (r Request) WaitsFor(a app.Actor) bool {
	switch r.Status {
	case RequestOffered:
		return r.Requester == a.Name()
	case RequestWaiting:
		return r.mayReview(a) == nil && slices.ContainsFunc(r.want(), func(n policy.RequiredApproval) bool { return n.Fits(a) })
	}
	return false
}

// UpdateTerms are what an update that was asked for comes to, for those who decide on it.
type UpdateTerms struct {
	Update  Update            `json:"update"` // the configuration is left out, since it may hold secrets; see Changes
	Title   string            `json:"title"`
	Before  Figures           `json:"before"`
	After   Figures           `json:"after"`
	Effects []string          `json:"effects,omitempty"`
	Changes []app.ValueChange `json:"changes,omitempty"`
	Notes   []string          `json:"notes,omitempty"`
}

// Open makes it a request that waits, with what is needed to run it later.
func (n *NewRequest) Open(k RequestPayload, needs []policy.RequiredApproval) {
	r := &n.Request
	r.Status, r.Approvals, n.Kept = RequestWaiting, needs, &k
	r.Decision.Needs = nil
	r.Terms.Seal = k.Seal()
	for _, need := range r.Approvals {
		after := need.ExpireAfter
		if after <= 0 {
			after = policy.DefaultExpiry
		}
		if at := r.RequestedAt.Add(after); r.ExpiresAt.IsZero() || at.Before(r.ExpiresAt) {
			r.ExpiresAt = at
		}
	}
	r.DueAt = r.due()
}

// NoConditions refuses to offer something else than was asked for.
func (r Request) NoConditions() error {
	switch {
	case len(r.Terms.Places) > 1:
		return &app.Error{Code: app.EInvalid, Field: "decision", Reason: "no_conditions",
			Message: "You can't offer conditions for a request that names several places.",
			Hint:    "Approve the request as it is, or deny it and say what you would approve."}
	case r.Kind == app.OperationCreate:
		return nil
	}
	return &app.Error{Code: app.EInvalid, Field: "decision", Reason: "no_conditions", Message: fmt.Sprintf("You can't offer conditions for a change to an existing cluster (%s).", r.Kind.Text()),
		Hint: "Approve the request as it is, or deny it and say what you would approve."}
}

// endLapsed is what happens to a request whose cluster has changed.
func (r *Request) endLapsed(m RequestMove) (o RequestOutcome) {
	r.Status, r.Message = RequestExpired, cmp.Or(m.Reason, "The cluster has changed since the request.")
	o.Notices = r.expiredNotices(m.Now)
	return o
}

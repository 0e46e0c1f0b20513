package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/policy"
	"muster/app/window"
)

// RequestAct is what can happen to a request that is open.
type RequestAct string

// The acts.
const (
	RequestApprove   RequestAct = "approve"
	RequestDeny      RequestAct = "deny"
	RequestOffer     RequestAct = "offer"
	RequestConfirm   RequestAct = "confirm"
	RequestWithdraw  RequestAct = "withdraw"
	RequestBreak     RequestAct = "break_glass"
	RequestReconcile RequestAct = "tend"    // what time brings: reminders, escalation, the end
	RequestStart     RequestAct = "start"   // its maintenance window is open
	RequestRunNow    RequestAct = "run_now" // before its window
	RequestLapse     RequestAct = "lapse"   // what it is about has changed since, so it ends
)

// RequestMove is such an act. PlanHash is that of what was shown to who acts.
type RequestMove struct {
	Tenant   string
	ID       int64
	Act      RequestAct
	Who      app.Actor
	Now      time.Time
	PlanHash string
	Reason   string
	Offer    *Offer          // with offer
	Kept     *RequestPayload // with offer: what is needed to run it
	// Cluster is what is made where the request runs, or Operation what is then done to an existing one.
	Cluster   *NewCluster
	Operation *NewOperation
	// Window is the maintenance window that it has to wait for, or to wait for again; nil: it runs where nothing else is missing.
	Window *window.Opening
}

// RequestOutcome is what follows from a move, besides the request as it is then.
type RequestOutcome struct {
	Run     bool
	Review  *Review // to be written
	Notices []app.Notice
	Nothing bool // it changed nothing
}

// Bounds of a review.
const (
	offerTime   = 24 * time.Hour // an offer is valid at least this long
	MostReason  = 1000           // bytes
	leastGlass  = 10             // least length of the reason for an emergency override
	leastReason = 3
)

// Move changes a request as an act says, or refuses. It is pure: the store calls it on the row as it is in its transaction,
// so a request moves once however many try at the same time.
func (r *Request) Move(m RequestMove) (o RequestOutcome, err error) {
	m.Reason = strings.TrimSpace(m.Reason)
	if !r.Status.Open() {
		if m.Act == RequestReconcile || m.Act == RequestLapse || m.Act == RequestStart {
			return RequestOutcome{Nothing: true}, nil
		}
		return o, &app.Error{Code: app.EConflict, Reason: "request_ended", Message: fmt.Sprintf("Request %d is already %s.", r.ID, r.Status), Hint: "Reload the request."}
	}
	if len(m.Reason) > MostReason {
		return o, &app.Error{Code: app.ETooLarge, Field: "reason", Message: "The reason must be at most 1,000 bytes.", Hint: "Shorten the reason."}
	}
	if err := r.checkScheduled(m.Act); err != nil {
		return o, err
	}
	switch m.Act {
	case RequestApprove, RequestDeny, RequestOffer:
		o, err = r.review(m)
	case RequestConfirm:
		o, err = r.confirm(m)
	case RequestWithdraw:
		o, err = r.withdraw(m)
	case RequestBreak:
		o, err = r.breakGlass(m)
	case RequestReconcile:
		o = r.reconcile(m.Now)
	case RequestStart:
		o = r.start(m)
	case RequestRunNow:
		o, err = r.runNow(m)
	case RequestLapse:
		o = r.endLapsed(m)
	default:
		err = app.Errorf(app.EInvalid, "Unknown action %q.", m.Act)
	}
	if err != nil {
		return RequestOutcome{}, err
	}
	if o.Run && m.Window != nil {
		o.Run, o.Notices = false, r.schedule(m)
	}
	if o.Run {
		r.Status = RequestAccepted
	}
	if !r.Status.Open() {
		r.EndedAt, r.ExpiresAt, r.Offer = m.Now, time.Time{}, nil
	}
	r.DueAt = r.due()
	return o, nil
}

// mayReview reports whether someone may say something to a request that waits at all.
func (r Request) mayReview(a app.Actor) error {
	if r.Requester == a.Name() {
		return &app.Error{Code: app.EForbidden, Reason: "own_request", Message: "You can't approve your own request.", Hint: "Ask someone else. The request is waiting for " + r.approvers() + "."}
	}
	if !slices.ContainsFunc(r.Approvals, func(n policy.RequiredApproval) bool { return n.Fits(a) }) {
		return &app.Error{Code: app.EForbidden, Reason: "not_approver", Message: "You aren't an approver of this request.", Hint: "The request is waiting for " + r.approvers() + "."}
	}
	for _, v := range r.Reviews {
		if v.Round == r.Round && v.Reviewer == a.Name() {
			return &app.Error{Code: app.EConflict, Reason: "reviewed", Message: "You have already reviewed this request.", Hint: "The request is still waiting for " + r.approvers() + "."}
		}
	}
	return nil
}

// approvers says who has to approve yet.
func (r Request) approvers() string {
	var all []string
	for _, n := range r.want() {
		all = append(all, n.Missing())
	}
	if len(all) == 0 {
		return "no one"
	}
	return strings.Join(all, " and ")
}

func (r *Request) review(m RequestMove) (o RequestOutcome, err error) {
	if r.Status != RequestWaiting {
		return o, &app.Error{Code: app.EConflict, Reason: "offered", Message: "Conditions were offered to " + r.Requester + ", who must accept them or withdraw the request first.", Hint: "Try again after that."}
	}
	if err := r.mayReview(m.Who); err != nil {
		return o, err
	}
	if err := r.shown(m.PlanHash, r.Terms, m.Act != RequestDeny); err != nil {
		return o, err
	}
	v := Review{Reviewer: m.Who.Name(), At: m.Now, Reason: m.Reason, Round: r.Round, PlanHash: r.Terms.PlanHash}
	high := false
	for _, n := range r.Approvals {
		if n.Fits(m.Who) {
			v.Counts, high = append(v.Counts, n.Policy), high || n.High
		}
	}
	if m.Act != RequestApprove && utf8.RuneCountInString(m.Reason) < leastReason {
		return o, &app.Error{Code: app.EInvalid, Field: "reason", Message: r.Requester + " needs to know why.", Hint: "Reason is required."}
	}
	if high && m.Act != RequestDeny {
		if err := m.Who.MustBeFresh(m.Now, app.FreshForApproval); err != nil {
			return o, err
		}
	}
	switch m.Act {
	case RequestDeny:
		v.Decision = VerdictDeny
		r.Status, r.Message = RequestDenied, m.Reason
	case RequestOffer:
		if m.Offer == nil || m.Kept == nil {
			return o, app.Errorf(app.EInvalid, "No conditions to offer.")
		}
		v.Decision = VerdictConditions
		r.Status, r.Offer = RequestOffered, m.Offer
		r.ExpiresAt = latest(r.ExpiresAt, m.Now.Add(offerTime))
	case RequestApprove:
		v.Decision = VerdictApprove
	}
	r.Reviews = append(r.Reviews, v)
	r.count()
	o.Review = &r.Reviews[len(r.Reviews)-1]
	o.Run = m.Act == RequestApprove && len(r.want()) == 0
	o.Notices = r.reviewNotices(m)
	return o, nil
}

// count fills in who has approved what is asked for now, each need by different people.
func (r *Request) count() {
	for i := range r.Approvals {
		n := &r.Approvals[i]
		n.Approved = nil
		for _, v := range r.Reviews {
			yes := v.Decision == VerdictApprove || v.Decision == VerdictConditions && v.Round == r.Round && r.Status != RequestOffered
			if yes && v.Round == r.Round && v.Reviewer != r.Requester && slices.Contains(v.Counts, n.Policy) && !slices.Contains(n.Approved, v.Reviewer) {
				n.Approved = append(n.Approved, v.Reviewer)
			}
		}
	}
}

// confirm takes what was offered. Who offered it has approved it by that; approvals of what was asked for before lapse, since
// they were for another plan.
func (r *Request) confirm(m RequestMove) (o RequestOutcome, err error) {
	switch {
	case r.Status != RequestOffered || r.Offer == nil:
		return o, &app.Error{Code: app.EConflict, Reason: "not_offered", Message: "No offer to confirm.", Hint: "The request is waiting for " + r.approvers() + "."}
	case m.Who.Name() != r.Requester:
		return o, &app.Error{Code: app.EForbidden, Reason: "not_requester", Message: "Only " + r.Requester + ", who made the request, can accept the offer."}
	}
	if err := r.shown(m.PlanHash, r.Offer.Terms, true); err != nil {
		return o, err
	}
	r.Round++
	for i := len(r.Reviews) - 1; i >= 0; i-- {
		// The review stays as it was said; that it counts now is one more, of the new round.
		if v := r.Reviews[i]; v.Decision == VerdictConditions && v.Round == r.Round-1 {
			v.Round, v.PlanHash = r.Round, r.Offer.PlanHash
			r.Reviews = append(r.Reviews, v)
			o.Review = &r.Reviews[len(r.Reviews)-1]
			break
		}
	}
	r.Terms, r.Offer, r.Status = r.Offer.Terms, nil, RequestWaiting
	r.count()
	o.Run = len(r.want()) == 0
	o.Notices = r.confirmNotices(m, o.Run)
	return o, nil
}

func (r *Request) withdraw(m RequestMove) (o RequestOutcome, err error) {
	mine := m.Who.Name() == r.Requester
	if !mine && !m.Who.Role.AtLeast(app.RoleAdmin) {
		return o, &app.Error{Code: app.EForbidden, Reason: "not_requester", Message: "Only " + r.Requester + ", who made the request, and admins can withdraw it.",
			Hint: "Ask an approver to deny it."}
	}
	r.Status, r.Message = RequestWithdrawn, m.Reason
	if !mine {
		o.Notices = r.withdrawnNotices(m)
	}
	return o, nil
}

func (r *Request) breakGlass(m RequestMove) (o RequestOutcome, err error) {
	switch {
	case r.Status != RequestWaiting:
		return o, &app.Error{Code: app.EConflict, Reason: "offered", Message: "Conditions were offered to " + r.Requester + ", who must accept them or withdraw the request first."}
	case !r.MayBreak(m.Who):
		return o, &app.Error{Code: app.EForbidden, Reason: "not_breaker", Message: "You aren't allowed to use the emergency override here.", Hint: "Ask an admin, or a member of the group that the policy names."}
	case utf8.RuneCountInString(m.Reason) < leastGlass:
		return o, &app.Error{Code: app.EInvalid, Field: "reason", Message: "The emergency override requires a reason of at least 10 characters.", Hint: "Describe the emergency. Everyone involved will see the reason."}
	}
	if err := r.shown(m.PlanHash, r.Terms, true); err != nil {
		return o, err
	}
	if err := m.Who.MustBeFresh(m.Now, app.FreshForApproval); err != nil {
		return o, err
	}
	r.Reviews = append(r.Reviews, Review{Reviewer: m.Who.Name(), At: m.Now, Decision: VerdictBreak, Reason: m.Reason, Round: r.Round, PlanHash: r.Terms.PlanHash})
	r.Override, r.Message = true, m.Reason
	o.Run, o.Review = true, &r.Reviews[len(r.Reviews)-1]
	o.Notices = r.breakGlassNotices(m)
	return o, nil
}

// MayBreak reports whether someone may let a request run without approvals.
func (r Request) MayBreak(a app.Actor) bool {
	return r.Status == RequestWaiting && (a.Role.AtLeast(app.RoleAdmin) ||
		slices.ContainsFunc(r.Approvals, func(n policy.RequiredApproval) bool {
			return n.BreakGlass != "" && slices.Contains(a.Groups, n.BreakGlass)
		}))
}

// reconcile does what is due by now.
func (r *Request) reconcile(now time.Time) (o RequestOutcome) {
	if r.Status == RequestScheduled {
		return RequestOutcome{Nothing: true}
	}
	if !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt) {
		r.Message = "The approvals didn't arrive in time."
		if r.Status == RequestOffered {
			r.Message = "The offer wasn't confirmed in time."
		}
		r.Status = RequestExpired
		o.Notices = r.expiredNotices(now)
		return o
	}
	if r.Status == RequestWaiting {
		for i := range r.Approvals {
			n := &r.Approvals[i]
			if at := n.Remind(r.RequestedAt); !at.IsZero() && !now.Before(at) {
				n.RemindedAt = now
				o.Notices = append(o.Notices, r.reminderNotices(*n, now))
			}
			if at := n.Escalate(r.RequestedAt); !at.IsZero() && !now.Before(at) {
				n.EscalatedAt = now
				o.Notices = append(o.Notices, r.escalatedNotices(*n, now))
			}
		}
	}
	o.Nothing = len(o.Notices) == 0
	return o
}

// due is when reconcile has something to do next; zero for never.
func (r Request) due() time.Time {
	if !r.Status.Open() {
		return time.Time{}
	}
	if r.Status == RequestScheduled {
		return r.Window.Due()
	}
	next := r.ExpiresAt
	for _, n := range r.Approvals {
		for _, at := range []time.Time{n.Remind(r.RequestedAt), n.Escalate(r.RequestedAt)} {
			if r.Status == RequestWaiting && !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// shown refuses an answer to a plan that isn't the current one.
func (r Request) shown(hash string, t Terms, needed bool) error {
	switch {
	case hash == "" && needed:
		return &app.Error{Code: app.EInvalid, Field: "plan_hash", Message: "Plan hash is required.", Hint: "Send the plan_hash of the request that you reviewed."}
	case hash != "" && hash != t.PlanHash:
		return &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed since you reviewed it.", Hint: "Check the request again."}
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
)

// maxReason limits a reason, in bytes, since a button has to carry it.
const maxReason = 500

// requests shows and decides requests.
type requests struct {
	requests Requests
	clusters Clusters
}

// asked is the answer for a request waiting for approval.
func (r reader) asked(q cluster.Request) Answer {
	title, lines := fmt.Sprintf("Request %d is waiting for approval", q.ID), r.terms(q)
	if q.Status == cluster.RequestScheduled {
		title, lines = fmt.Sprintf("Request %d is waiting for the maintenance window", q.ID), append(lines, windowLine(q))
	}
	return Answer{Title: title, Lines: lines, Pending: []Pending{{q.Tenant, q.ID}},
		Links: []Link{{"View request", r.Page(app.RequestSubject(q.ID))}}}
}

// terms sums up a request.
func (v voice) terms(q cluster.Request) []string {
	what := q.Cluster
	if q.Kind == app.OperationCreate {
		what = strings.TrimSpace(q.Spec.Name + " from " + q.Spec.Template)
	}
	if u := q.Terms.Updated; q.Kind == app.OperationRun && u != nil {
		return []string{fmt.Sprintf("%s wants to %s on %s", q.Requester, runVerb(u.Update.Action), cmp.Or(q.Facts.Name, q.Cluster)), u.Title}
	}
	lines := []string{fmt.Sprintf("%s wants to %s: %s", q.Requester, q.Kind.Verb(), what)}
	facts := []string{humanize.Count(q.Terms.Layout.Size(), "node")}
	if p := priceOf(q.Terms.Layout); p != "" {
		facts = append(facts, p)
	}
	if q.Terms.Lease > 0 {
		facts = append(facts, "for "+humanize.Duration(q.Terms.Lease))
	} else {
		facts = append(facts, "no expiry")
	}
	return append(lines, strings.Join(facts, ", "))
}

// reviewOf parses a request's number and a reason.
func (r request) reviewOf() (id int64, reason string, err error) {
	if len(r.words) == 0 {
		return 0, "", r.usage()
	}
	id, err = strconv.ParseInt(strings.TrimPrefix(r.words[0], "#"), 10, 64)
	if err != nil || id < 1 {
		return 0, "", &app.Error{Code: app.EInvalid, Field: "request", Message: fmt.Sprintf("“%s” isn't a request number.", humanize.CutText(r.words[0], 40))}
	}
	reason = strings.Join(r.words[1:], " ")
	if len(reason) > maxReason {
		return 0, "", &app.Error{Code: app.EInvalid, Field: "reason", Message: fmt.Sprintf("The reason must be at most %d characters.", maxReason)}
	}
	return id, reason, nil
}

// approveAsk shows the request first, so that people see what they approve.
func (rs requests) approveAsk(ctx context.Context, r request) (Answer, error) {
	id, reason, err := r.reviewOf()
	if err != nil {
		return Answer{}, err
	}
	return rs.show(ctx, r, id, reason)
}

func (rs requests) show(ctx context.Context, r request, id int64, reason string) (Answer, error) {
	q, err := rs.requests.Request(ctx, r.actor, id)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: fmt.Sprintf("Request %d", q.ID), Lines: r.terms(q), Links: []Link{{"View request", r.Page(app.RequestSubject(q.ID))}}}
	values, script := runTerms(q)
	a.Lines, a.Log = slices.Concat(a.Lines, values, r.stateLines(q, r.actor)), script
	a.Buttons = requestButtons(q, r.actor, reason)
	if len(a.Buttons) > 0 && reason != "" && q.WaitsFor(r.actor) && q.Status == cluster.RequestWaiting {
		a.Lines = append(a.Lines, "Your reason: "+reason)
	}
	return a, nil
}

// stateLines say what a request is waiting for and, if the reader can't decide, who can.
func (r reader) stateLines(q cluster.Request, reader app.Actor) (lines []string) {
	switch {
	case q.Status == cluster.RequestOffered && q.Offer != nil:
		lines = append(lines, r.offerLine(q))
		if q.Requester != reader.Name() {
			lines = append(lines, "Waiting for "+q.Requester+" to accept or decline the offer.")
		}
		return lines
	case q.Status == cluster.RequestScheduled:
		return []string{windowLine(q)}
	case q.Status != cluster.RequestWaiting:
		return []string{fmt.Sprintf("Request %d is already %s.", q.ID, q.Status)}
	}
	for _, n := range q.Approvals {
		lines = append(lines, needLine(n))
	}
	switch {
	case q.Requester == reader.Name():
		lines = append(lines, "You can't approve your own request.")
	case !mayReview(q, reader):
		lines = append(lines, "Your approval isn't needed for this request.")
	case high(q):
		lines = append(lines, "High risk: approve it in the portal, where you must re-authenticate.")
	}
	return lines
}

// windowLine says which maintenance window a request waits for.
func windowLine(q cluster.Request) string {
	return strings.TrimSpace("Waits for the maintenance window: " + q.Window.Text() + ". " + q.Message)
}

// offerLine sums up an approver's offer.
func (v voice) offerLine(q cluster.Request) string {
	line := fmt.Sprintf("%s offers %s with a lease of %s instead", q.Offer.By, humanize.Count(q.Offer.Layout.Size(), "node"), app.LeaseWords(q.Offer.Lease))
	if p := priceOf(q.Offer.Layout); p != "" {
		line += ", " + p
	}
	if q.Offer.Reason != "" {
		return line + ": " + q.Offer.Reason
	}
	return line + "."
}

func mayReview(q cluster.Request, a app.Actor) bool {
	return q.Status == cluster.RequestWaiting && q.WaitsFor(a) && a.May("Review")
}

// requestButtons are the actions that one reader can take on a request.
func requestButtons(q cluster.Request, reader app.Actor, reason string) (list []Button) {
	mine := q.Requester == reader.Name()
	withdraw := func(name, title, text string) {
		w := action{Do: doWithdraw, Request: q.ID}.button(name, true)
		w.Confirm = &Confirm{Title: title, Text: text, Yes: name, No: "Cancel"}
		list = append(list, w)
	}
	switch {
	case mayReview(q, reader) && !high(q):
		list = append(list, action{Do: doApprove, Request: q.ID, Reason: reason, Hash: q.Terms.PlanHash}.button("Approve request", false))
	case mine && q.Status == cluster.RequestOffered && q.Offer != nil && reader.May("Confirm"):
		list = append(list, action{Do: doConfirm, Request: q.ID, Hash: q.Offer.PlanHash}.button("Accept offer", false))
	}
	if !q.Status.Open() || !reader.May("Withdraw") || !mine && reader.Role != app.RoleAdmin && reader.Role != app.RoleSuperadmin {
		return list
	}
	if mine && q.Status == cluster.RequestOffered {
		withdraw("Decline offer", "Decline the offer?", fmt.Sprintf("This closes request %d. Nothing is created.", q.ID))
		return list
	}
	withdraw("Withdraw request", "Withdraw the request?", fmt.Sprintf("This closes request %d. Nothing is created or changed.", q.ID))
	return list
}

func (rs requests) deny(ctx context.Context, r request) (Answer, error) {
	id, reason, err := r.reviewOf()
	if err != nil {
		return Answer{}, err
	}
	if reason == "" {
		return Answer{}, r.usage()
	}
	q, err := rs.requests.Review(ctx, r.actor, id, operation.ReviewRequest{Verdict: cluster.VerdictDeny, Reason: reason})
	if err != nil {
		return Answer{}, err
	}
	return rs.reviewed(ctx, r, q)
}

// reviewed is the answer after a decision. An operation that starts because of it gets a card.
func (rs requests) reviewed(ctx context.Context, r request, q cluster.Request) (Answer, error) {
	a := Answer{Title: fmt.Sprintf("Request %d is %s", q.ID, q.Status), Lines: r.terms(q), Links: []Link{{"View request", r.Page(app.RequestSubject(q.ID))}}}
	if q.Status != cluster.RequestAccepted || q.Cluster == "" {
		return a, nil
	}
	v, err := rs.clusters.Cluster(ctx, r.actor, q.Cluster)
	if err != nil {
		return Answer{}, err
	}
	a.Started = r.begun(v, 0).Started
	return a, nil
}

// decided is reviewed for a button.
func (rs requests) decided(ctx context.Context, r request, q cluster.Request, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	return rs.reviewed(ctx, r, q)
}

func (rs requests) look(ctx context.Context, r request, d action) (Answer, error) {
	return rs.show(ctx, r, d.Request, "")
}

func (rs requests) approve(ctx context.Context, r request, d action) (Answer, error) {
	q, err := rs.requests.Review(ctx, r.actor, d.Request, operation.ReviewRequest{Verdict: cluster.VerdictApprove, Reason: d.Reason, PlanHash: d.Hash})
	return rs.decided(ctx, r, q, err)
}

func (rs requests) confirm(ctx context.Context, r request, d action) (Answer, error) {
	q, err := rs.requests.Confirm(ctx, r.actor, d.Request, d.Hash)
	return rs.decided(ctx, r, q, err)
}

func (rs requests) withdraw(ctx context.Context, r request, d action) (Answer, error) {
	q, err := rs.requests.Withdraw(ctx, r.actor, d.Request, "")
	return rs.decided(ctx, r, q, err)
}

package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/template"
)

// The actions of the approvers' card. Each opens a modal that shows the plan and asks for a reason.
const (
	doReviewApprove = "review-approve"
	doReviewDeny    = "review-deny"
	doReviewOffer   = "review-offer"
)

// formReview is the modal of all three.
const formReview = "review"

const (
	maxLayoutLines = 8
	maxChangeLines = 12
	maxReviewLines = 20
)

func isReview(do string) bool {
	return do == doReviewApprove || do == doReviewDeny || do == doReviewOffer
}

// approvalCard shows a request in the approvers' channel: its cost, changes, decisions and deadline. Configuration values are left out.
func (v voice) approvalCard(q cluster.Request, url string) Answer {
	a := Answer{Title: fmt.Sprintf("Request %d is %s: %s", q.ID, q.Status, q.Title()), Links: []Link{{"View request", url}}}
	a.Lines = append(v.terms(q), v.planLines(q)...)
	if q.Kind == app.OperationRun && q.Status.Open() {
		a.Lines = append(a.Lines, "To see its script and values, open the request or press a button below.")
	}
	for _, c := range q.Decision.Changes {
		a.Lines = append(a.Lines, c.Sentence())
	}
	var why []string
	for _, n := range q.Approvals {
		if n.Reason != "" && !slices.Contains(why, n.Reason) {
			why = append(why, n.Reason)
			a.Lines = append(a.Lines, "Approval required: "+n.Reason)
		}
	}
	if q.Status.Open() {
		for _, n := range q.Approvals {
			a.Lines = append(a.Lines, needLine(n))
		}
	}
	a.Lines = append(a.Lines, reviewLines(q)...)
	switch {
	case q.Status == cluster.RequestOffered && q.Offer != nil:
		a.Lines = append(a.Lines, v.offerLine(q), "Waiting for "+q.Requester+" to accept or decline the offer.")
	case q.Status == cluster.RequestScheduled:
		a.Lines = append(a.Lines, windowLine(q))
	case !q.Status.Open() && q.Message != "":
		a.Lines = append(a.Lines, q.Message)
	}
	if q.Status.Open() && !q.ExpiresAt.IsZero() {
		a.Lines = append(a.Lines, "Request expires "+v.moment(q.ExpiresAt)+".")
	}
	if q.Status == cluster.RequestOffered {
		// Everyone sees the same card, so its button opens the reader's own.
		a.Buttons = append(a.Buttons, action{Do: doApproveAsk, Request: q.ID, Beside: true}.button("View offer", false))
	}
	if q.Status != cluster.RequestWaiting {
		return a
	}
	if high(q) {
		a.Lines = append(a.Lines, "High risk: approve it in the portal, where you must re-authenticate.")
		a.Links = []Link{{"Approve in the portal", url}}
	} else {
		a.Buttons = append(a.Buttons, action{Do: doReviewApprove, Request: q.ID, Beside: true}.button("Approve…", false))
		if q.Kind == app.OperationCreate {
			b := action{Do: doReviewOffer, Request: q.ID, Beside: true}.button("Approve with conditions…", false)
			b.Quiet = true
			a.Buttons = append(a.Buttons, b)
		}
	}
	a.Buttons = append(a.Buttons, action{Do: doReviewDeny, Request: q.ID, Beside: true}.button("Deny…", true))
	return a
}

// high reports whether approvers must re-authenticate.
func high(q cluster.Request) bool {
	return slices.ContainsFunc(q.Approvals, func(n policy.RequiredApproval) bool { return n.High && !n.Met() })
}

// planLines lists a request's nodes, cost, duration and changes.
func (v voice) planLines(q cluster.Request) []string {
	var lines []string
	t := q.Terms
	if d := t.Updated; d != nil {
		lines = append(lines, d.Effects...)
		if d.Before.CostPerHour != d.After.CostPerHour {
			lines = append(lines, "Cost: "+cmp.Or(perHour(d.After.CostPerHour, d.After.Currency), "none")+", was "+cmp.Or(perHour(d.Before.CostPerHour, d.Before.Currency), "unknown")+".")
		}
		changes := d.Changes
		if q.Kind == app.OperationRun { // see runTerms
			changes = nil
		}
		for i, c := range changes {
			if i == maxChangeLines {
				lines = append(lines, fmt.Sprintf("Changes %s.", humanize.Count(len(changes)-i, "more setting")))
				break
			}
			lines = append(lines, "Changes "+c.Path)
		}
		lines = append(lines, d.Notes...)
	} else {
		lines = append(lines, t.Layout.Lines(maxLayoutLines)...)
	}
	if t.Cost > 0 {
		lines = append(lines, fmt.Sprintf("Total cost: %s.", humanize.Money(t.Cost, t.Layout.Currency)))
	}
	if t.Steps > 0 {
		lines = append(lines, fmt.Sprintf("%s, %s.", humanize.Count(t.Steps, "step"), humanize.About(humanize.Duration(t.Duration))))
	}
	return lines
}

// needLine shows the progress of one required approval: "1 of 2 approvals from the group finance: bob".
func needLine(n policy.RequiredApproval) string {
	line := fmt.Sprintf("%d of %s", len(n.Approved), n.Text())
	if len(n.Approved) > 0 {
		line += ": " + strings.Join(n.Approved, ", ")
	}
	return line
}

// reviewLines lists decisions, newest last.
func reviewLines(q cluster.Request) []string {
	var lines []string
	for _, v := range q.Reviews {
		word := map[cluster.ReviewDecision]string{cluster.VerdictApprove: "approved", cluster.VerdictDeny: "denied", cluster.VerdictConditions: "approved with conditions",
			cluster.VerdictBreak: "used the emergency override"}[v.Decision]
		if v.Round < q.Round && v.Decision == cluster.VerdictApprove {
			word += " an earlier version"
		}
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", v.Reviewer, word, v.Reason), ": "))
	}
	if n := len(lines); n > maxReviewLines {
		lines = lines[n-maxReviewLines:]
	}
	return lines
}

// reviewNote is the note of a review modal.
type reviewNote struct {
	Do      string `json:"do"`
	Request int64  `json:"request"`
	Hash    string `json:"hash"`
	Channel string `json:"channel,omitempty"`
}

// reviewAsk shows the request and asks for a reason. People who can't decide get an error before they type anything.
func (rs requests) reviewAsk(ctx context.Context, r request, d action) (Answer, error) {
	q, err := rs.requests.Request(ctx, r.actor, d.Request)
	if err != nil {
		return Answer{}, err
	}
	url := r.Page(app.RequestSubject(q.ID))
	beside := func(line string) Answer {
		return Answer{Title: fmt.Sprintf("Request %d", q.ID), Lines: []string{line}, Links: []Link{{"View request", url}}, Beside: true}
	}
	switch {
	case q.Status == cluster.RequestOffered:
		return beside("Waiting for " + q.Requester + " to accept or decline an offer."), nil
	case q.Status == cluster.RequestScheduled:
		return beside(windowLine(q)), nil
	case q.Status != cluster.RequestWaiting:
		return beside(fmt.Sprintf("Request %d is already %s.", q.ID, q.Status)), nil
	case q.Requester == r.actor.Name():
		return beside("You can't approve or deny your own request."), nil
	case !q.WaitsFor(r.actor):
		return beside("Your approval isn't needed for this request."), nil
	case high(q) && d.Do != doReviewDeny:
		return beside("High risk: approve it in the portal, where you must re-authenticate."), nil
	}
	note, err := json.Marshal(reviewNote{Do: d.Do, Request: q.ID, Hash: q.Terms.PlanHash, Channel: r.person.Channel})
	if err != nil {
		return Answer{}, err
	}
	values, script := runTerms(q)
	m := Modal{ID: formReview, Note: string(note),
		Parts: []Part{{Title: q.Title(), Lines: slices.Concat(r.terms(q), r.planLines(q), values), Log: script}}}
	reason := Field{Name: "reason", Kind: FieldLong, Label: "Reason", Most: maxReason, Hint: "Visible to " + q.Requester + "."}
	switch d.Do {
	case doReviewApprove:
		m.Title, m.Submit, reason.Optional = fmt.Sprintf("Approve request %d", q.ID), "Approve request", true
	case doReviewDeny:
		m.Title, m.Submit = fmt.Sprintf("Deny request %d", q.ID), "Deny request"
	case doReviewOffer:
		m.Title, m.Submit = fmt.Sprintf("Offer for request %d", q.ID), "Send offer"
		least, most := 1, max(q.Terms.Layout.Size(), 1)
		m.Parts = append(m.Parts,
			Part{Field: &Field{Name: "size", Kind: FieldNumber, Label: "Maximum nodes", Hint: "Leave empty to keep what was requested.", Optional: true, Min: &least, Max: &most}},
			Part{Field: &Field{Name: "lease", Kind: FieldText, Label: "Maximum lease", Hint: "For example 90m, 4h or 2d. Leave empty to keep what was requested.", Optional: true, Most: 20}})
	}
	m.Parts = append(m.Parts, Part{Field: &reason})
	return Answer{Title: m.Title, Lines: []string{"Slack couldn't open the form. Try again, or decide in the portal."}, Links: []Link{{"View request", url}}, Beside: true, Modal: &m}, nil
}

// reviewSubmit submits a review, bound to the plan that the modal showed.
func (rs requests) reviewSubmit(ctx context.Context, r request, f Form) (Submitted, error) {
	var n reviewNote
	if err := json.Unmarshal([]byte(f.Note), &n); err != nil || !isReview(n.Do) {
		return Submitted{}, &app.Error{Code: app.EInvalid, Message: "This form isn't valid.", Hint: "Open it again."}
	}
	v := operation.ReviewRequest{Verdict: map[string]cluster.ReviewDecision{doReviewApprove: cluster.VerdictApprove, doReviewDeny: cluster.VerdictDeny, doReviewOffer: cluster.VerdictConditions}[n.Do],
		Reason: strings.TrimSpace(first(f.Values["reason"])), PlanHash: n.Hash}
	if n.Do == doReviewOffer {
		if text := first(f.Values["size"]); text != "" {
			size, err := strconv.Atoi(text)
			if err != nil {
				return Submitted{Errors: map[string]string{"size": "Enter a number of nodes."}}, nil //nolint:nilerr // shown at the field
			}
			v.Conditions.Size = size
		}
		if text := first(f.Values["lease"]); text != "" {
			lease, err := template.ParseLength(text)
			if err != nil {
				return Submitted{Errors: map[string]string{"lease": app.AsError(err).ForPeople()}}, nil
			}
			v.Conditions.Lease = lease
		}
	}
	q, err := rs.requests.Review(ctx, r.actor, n.Request, v)
	if err != nil {
		e := app.AsError(err)
		field := strings.TrimPrefix(e.Field, "conditions.")
		if e.Field == "conditions" {
			field = "size"
		}
		if field == "reason" || n.Do == doReviewOffer && (field == "size" || field == "lease") {
			return Submitted{Errors: map[string]string{field: strings.TrimSpace(e.ForPeople() + " " + e.Hint)}}, nil
		}
		return Submitted{}, err
	}
	a := Answer{Title: fmt.Sprintf("Request %d is %s", q.ID, q.Status), Links: []Link{{"View request", r.Page(app.RequestSubject(q.ID))}}}
	if q.Status == cluster.RequestWaiting {
		for _, n := range q.Approvals {
			a.Lines = append(a.Lines, needLine(n))
		}
	}
	return Submitted{Answer: &a, Channel: n.Channel}, nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

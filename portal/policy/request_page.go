package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/portal/page"
	"muster/portal/plan"

	"github.com/a-h/templ"
)

// RequestList is the page of requests: first those that wait for the actor.
type RequestList struct {
	Now      time.Time
	Actor    app.Actor
	All      bool // of everyone, not only the actor's own
	Inbox    []cluster.Request
	Requests []cluster.Request
	Older    int64 // the next page starts before this number; 0 for none
}

// OlderLink is the next page, with older requests.
func (l RequestList) OlderLink() string {
	link := "/requests?before=" + strconv.FormatInt(l.Older, 10)
	if l.All {
		link += "&view=all"
	}
	return link
}

// RequestMark is the mark of a request's state.
func RequestMark(s cluster.RequestStatus) string {
	switch s {
	case cluster.RequestWaiting:
		return "waiting"
	case cluster.RequestOffered, cluster.RequestScheduled:
		return "queued"
	case cluster.RequestAccepted:
		return "succeeded"
	case cluster.RequestRefused, cluster.RequestDenied:
		return "failed"
	}
	return "dropped"
}

// RequestWord is a request's state in one word.
func RequestWord(r cluster.Request) string {
	if r.Status == cluster.RequestAccepted && r.Override {
		return "emergency override"
	}
	return string(r.Status)
}

// RequestLine says the state of a request in a sentence.
func RequestLine(now time.Time, r cluster.Request) string {
	switch r.Status {
	case cluster.RequestWaiting:
		return "Waiting for " + requestNeeds(r) + ". Expires in " + humanize.Rough(r.ExpiresAt.Sub(now)) + "."
	case cluster.RequestScheduled:
		return strings.TrimSpace("Waits for the maintenance window: " + r.Window.Text() + ". " + r.Message)
	case cluster.RequestOffered:
		return r.Offer.By + " approved with conditions. Waiting for " + r.Requester + " to accept."
	}
	return r.Message
}

// RequestTick keeps RequestLine current.
func RequestTick(r cluster.Request) templ.Attributes {
	if r.Status != cluster.RequestWaiting {
		return nil
	}
	return page.TickUntil(r.ExpiresAt)
}

// requestNeeds lists the missing approvals.
func requestNeeds(r cluster.Request) string {
	var all []string
	for _, n := range r.Approvals {
		if !n.Met() {
			all = append(all, n.Missing())
		}
	}
	return humanize.And(all)
}

func RequestName(r cluster.Request) string {
	if name := requestedCluster(r); r.Kind != "" && r.Kind != app.OperationCreate && name != "" {
		return name + ": " + r.Kind.Text()
	}
	if r.Spec.Name != "" {
		return r.Spec.Name
	}
	return "New " + r.Spec.Template + " cluster"
}

// requestedCluster names the cluster that a request is about; "" for none.
func requestedCluster(r cluster.Request) string {
	if r.Spec.Name != "" {
		return r.Spec.Name
	}
	return r.Cluster
}

func RequestLink(id int64) string { return "/requests/" + strconv.FormatInt(id, 10) }

// RequestForm is the input of a form on a request's page, with its error.
type RequestForm struct {
	Act, Reason, PlanHash, Size, Lease string
	Field, Message, Hint               string
}

// RequestShow is the page of one request.
type RequestShow struct {
	cluster.Request
	Actor app.Actor
	Form  RequestForm
	Now   time.Time
	Racks []plan.Rack
	At    string // display name of the provider
	Offer *plan.Preview
	// Actions open to the actor.
	Review, Withdraw, Confirm, Break, RunNow bool
}

// newRequestShow builds the page of a request for an actor.
func newRequestShow(r cluster.Request, a app.Actor, form RequestForm, now time.Time, title func(kind, name string) string) RequestShow {
	s := RequestShow{Request: r, Actor: a, Form: form, Now: now}
	drawn := plan.NewPreview(cluster.Preview{Template: r.Spec.Template, Layout: r.Terms.Layout}, title)
	s.Racks, s.At = drawn.Racks, drawn.At
	if r.Offer != nil {
		s.Offer = plan.NewPreview(cluster.Preview{Template: r.Spec.Template, Layout: r.Offer.Layout, Lease: r.Offer.Lease, Cost: r.Offer.Cost, PlanHash: r.Offer.PlanHash}, title)
	}
	s.Review = r.Status == cluster.RequestWaiting && r.WaitsFor(a) && a.May("Review")
	s.Confirm = r.Status == cluster.RequestOffered && r.WaitsFor(a) && a.May("Confirm")
	s.Withdraw = r.Status.Open() && a.May("Withdraw") && (r.Requester == a.Name() || a.Role == app.RoleAdmin || a.Role == app.RoleSuperadmin)
	s.Break = r.MayBreak(a) && a.May("BreakGlass")
	return s
}

// verdictWords is a verdict after the reviewer's name.
func verdictWords(v cluster.ReviewDecision) string {
	switch v {
	case cluster.VerdictApprove:
		return "approved"
	case cluster.VerdictDeny:
		return "denied"
	case cluster.VerdictConditions:
		return "approved with conditions"
	case cluster.VerdictBreak:
		return "used the emergency override"
	}
	return string(v)
}

func verdictMark(v cluster.ReviewDecision) string {
	switch v {
	case cluster.VerdictApprove:
		return "succeeded"
	case cluster.VerdictDeny, cluster.VerdictBreak:
		return "failed"
	}
	return "queued"
}

// SaidReviews are the reviews in order; a review carried into a later round is listed once.
func (s RequestShow) SaidReviews() []cluster.Review {
	var out []cluster.Review
	for _, v := range s.Reviews {
		if v.Decision == cluster.VerdictConditions && slices.ContainsFunc(out, func(o cluster.Review) bool { return o.Reviewer == v.Reviewer && o.At.Equal(v.At) }) {
			continue
		}
		out = append(out, v)
	}
	return out
}

// High reports whether approvers must re-authenticate.
func (s RequestShow) High() bool {
	return slices.ContainsFunc(s.Approvals, func(n policy.RequiredApproval) bool { return n.High })
}

// effectWords is an effect after the policy's name.
func effectWords(e policy.Effect) string {
	switch e {
	case policy.EffectAllow:
		return "allowed the request"
	case policy.EffectRefuse:
		return "refused the request"
	case policy.EffectRewrite:
		return "changed the request"
	case policy.EffectApprove:
		return "requires approval"
	case policy.EffectIgnored:
		return "didn't answer and was ignored"
	}
	return string(e)
}

// sourceWord is what decided: the name of a policy, or "Webhook cmdb".
func sourceWord(name string) string {
	return strings.TrimPrefix(policy.SourceText(name), policy.SourceText(""))
}

func effectMark(e policy.Effect) string {
	switch e {
	case policy.EffectAllow:
		return "succeeded"
	case policy.EffectRefuse:
		return "failed"
	case policy.EffectApprove:
		return "waiting"
	}
	return "queued"
}

// bad returns the error of the form with one of the acts.
func (s RequestShow) bad(acts ...string) page.Complaint {
	if s.Form.Message == "" || !slices.Contains(acts, s.Form.Act) {
		return page.Complaint{}
	}
	return page.Complaint{Message: s.Form.Message, Hint: s.Form.Hint}
}

// elsewhere is the error of a form that is no longer on the page.
func (s RequestShow) elsewhere() string {
	shown := map[string]bool{"approve": s.Review, "deny": s.Review, "conditions": s.Review, "confirm": s.Confirm, "withdraw": s.Withdraw,
		"run_now": s.RunNow, "break_glass": s.Break}
	if s.Form.Message == "" || shown[s.Form.Act] {
		return ""
	}
	return strings.TrimSpace(s.Form.Message + " " + s.Form.Hint)
}

// typed returns the input of the form with one of the acts.
func (s RequestShow) typed(text string, acts ...string) string {
	if slices.Contains(acts, s.Form.Act) {
		return text
	}
	return ""
}

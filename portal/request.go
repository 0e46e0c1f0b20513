package portal

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	appoperation "muster/app/operation"
	policypage "muster/portal/policy"
)

// Requesting is a power that a Muster may have: requests that policies decide on and people approve. A portal without it makes
// clusters at once.
type Requesting interface {
	// Ask gives the cluster, or the request that waits. A policy's refusal is EForbidden, reason "policy".
	Ask(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Answer, error)
	// SubmitRequest is Ask, and gives only the id of the cluster.
	SubmitRequest(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Answer, error)
	Requests(ctx context.Context, a app.Actor, f app.RequestFilter) ([]app.Request, error)
	Request(ctx context.Context, a app.Actor, id int64) (app.Request, error)
	// Review, Confirm and BreakGlass are EConflict, reason "plan_changed", where another plan was shown.
	Review(ctx context.Context, a app.Actor, id int64, v appoperation.ReviewRequest) (app.Request, error)
	Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (app.Request, error)
	Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (app.Request, error)
	BreakGlass(ctx context.Context, a app.Actor, id int64, planHash, reason string) (app.Request, error)
}

// requesting gives the power; nil where there is none.
func (p *Portal) requesting() Requesting {
	m, _ := p.muster.(Requesting)
	return m
}

// ask asks for a cluster, with or without requests.
func (p *Portal) ask(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Answer, error) {
	if m := p.requesting(); m != nil {
		return m.Ask(ctx, a, r)
	}
	v, err := p.muster.CreateCluster(ctx, a, r)
	return app.Answer{Cluster: &v}, err
}

// submit is ask for a page, which leads to the cluster and needs only its id.
func (p *Portal) submit(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Answer, error) {
	if m := p.requesting(); m != nil {
		return m.SubmitRequest(ctx, a, r)
	}
	v, err := p.muster.CreateCluster(ctx, a, r)
	return app.Answer{Request: app.Request{Cluster: v.ID}}, err
}

// inboxShown is the greatest number beside the entry of the menu.
const inboxShown = 99

// inbox counts what waits for somebody. Where it cannot be told, nothing is shown.
func (p *Portal) inbox(ctx context.Context, a app.Actor) int {
	m := p.requesting()
	if m == nil {
		return 0
	}
	list, err := m.Requests(ctx, a, app.RequestFilter{View: app.RequestsInbox, Limit: inboxShown, Bare: true})
	if err != nil {
		return 0
	}
	return len(list)
}

// pageOfRequests is how many requests a page lists.
const pageOfRequests = 50

func (p *Portal) requestList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.requests(r.Context(), a, r.URL)
	if err != nil {
		return err
	}
	frame := p.frame(r, "Requests")
	frame.At, frame.Live = "requests", true
	p.render(w, r, http.StatusOK, policypage.RequestListPage(frame, l))
	return nil
}

// requests reads a page of the list.
func (p *Portal) requests(ctx context.Context, a app.Actor, at *url.URL) (policypage.RequestList, error) {
	q := at.Query()
	l := policypage.RequestList{Now: p.now(), All: q.Get("view") == "all", Actor: a}
	f := app.RequestFilter{View: app.RequestsMine, Limit: pageOfRequests + 1}
	if l.All {
		f.View = app.RequestsAll
	}
	f.Before, _ = strconv.ParseInt(q.Get("before"), 10, 64)
	var err error
	if l.Requests, err = p.requesting().Requests(ctx, a, f); err != nil {
		return l, err
	}
	if len(l.Requests) > pageOfRequests {
		l.Requests = l.Requests[:pageOfRequests]
		l.Older = l.Requests[pageOfRequests-1].ID
	}
	if f.Before == 0 {
		l.Inbox, err = p.requesting().Requests(ctx, a, app.RequestFilter{View: app.RequestsInbox, Limit: 100})
	}
	return l, err
}

func (p *Portal) requestsLive(ctx context.Context, a app.Actor, at *url.URL) ([]liveOne, error) {
	l, err := p.requests(ctx, a, at)
	return []liveOne{{ID: "waits", HTML: policypage.RequestListSummary(l)}, {ID: "lists", HTML: policypage.RequestListPart(l)}}, err
}

func (p *Portal) requestShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showRequest(w, r, a, http.StatusOK, policypage.RequestForm{})
}

// requestBack leads from where a form was answered to the request itself, for those who load that page again.
func (p *Portal) requestBack(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	id, err := requestID(r)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/requests/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
	return nil
}

// showRequest shows a request, with what was typed into its forms where that could not be done.
func (p *Portal) showRequest(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form policypage.RequestForm) error {
	id, err := requestID(r)
	if err != nil {
		return err
	}
	s, err := p.requestPage(r.Context(), a, id, form)
	if err != nil {
		return err
	}
	f := p.frame(r, "Request "+strconv.FormatInt(id, 10))
	f.At, f.Live = "requests", status == http.StatusOK
	p.render(w, r, status, policypage.RequestShowPage(f, s))
	return nil
}

// requestPage reads a request for its page.
func (p *Portal) requestPage(ctx context.Context, a app.Actor, id int64, form policypage.RequestForm) (s policypage.RequestShow, err error) {
	q, err := p.requesting().Request(ctx, a, id)
	if err != nil {
		return s, err
	}
	c, err := p.muster.Catalog(ctx, a)
	if err != nil {
		return s, err
	}
	return policypage.NewRequestShow(q, a, form, p.now(), titlesOf(c)), nil
}

func (p *Portal) requestLive(ctx context.Context, a app.Actor, at *url.URL) ([]liveOne, error) {
	id, err := requestNumber(path.Base(at.Path))
	if err != nil {
		return nil, err
	}
	s, err := p.requestPage(ctx, a, id, policypage.RequestForm{})
	if err != nil {
		return nil, err
	}
	parts := []liveOne{{ID: "request-head", HTML: policypage.RequestHead(s)}, {ID: "request-forms", HTML: policypage.RequestForms(s)}, {ID: "request-ways", HTML: policypage.RequestWays(s)},
		{ID: "request-facts", HTML: policypage.RequestFacts(s)}}
	if len(s.Needs) > 0 {
		parts = append(parts, liveOne{ID: "approvals", HTML: policypage.RequestApprovals(s)})
	}
	return parts, nil
}

func requestID(r *http.Request) (int64, error) { return requestNumber(chi.URLParam(r, "request")) }

func requestNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, app.Errorf(app.ENotFound, "There is no request %.30q.", text)
	}
	return id, nil
}

// requestAct carries out what a form of a request's page asks for, and leads back to it.
func (p *Portal) requestAct(act func(ctx context.Context, a app.Actor, id int64, form policypage.RequestForm) error) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if err := form(r); err != nil {
			return err
		}
		id, err := requestID(r)
		if err != nil {
			return err
		}
		in := r.PostForm
		typed := policypage.RequestForm{Act: in.Get("act"), Reason: in.Get("reason"), PlanHash: in.Get("plan_hash"), Size: strings.TrimSpace(in.Get("size")), Lease: strings.TrimSpace(in.Get("lease"))}
		err = act(r.Context(), a, id, typed)
		e := app.AsError(err)
		switch {
		case err == nil:
			http.Redirect(w, r, "/requests/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
			return nil
		case e.Reason == app.StepUpReason:
			return err // the portal asks for the proof, and leads back
		case e.Code == app.EInvalid, e.Code == app.EConflict, e.Code == app.EForbidden, e.Code == app.ETooLarge, e.Code == app.ENoLayout, e.Code == app.EQuota:
			typed.Field, typed.Message, typed.Hint = e.Field, e.Message, e.Hint
			return p.showRequest(w, r, a, statusOf(err), typed)
		}
		return err
	}
}

func (p *Portal) requestReview(ctx context.Context, a app.Actor, id int64, f policypage.RequestForm) error {
	v := appoperation.ReviewRequest{Verdict: app.Verdict(f.Act), Reason: f.Reason, PlanHash: f.PlanHash}
	if v.Verdict == app.VerdictConditions {
		var err error
		if f.Size != "" {
			if v.Conditions.Size, err = strconv.Atoi(f.Size); err != nil || v.Conditions.Size < 1 {
				return &app.Error{Code: app.EInvalid, Field: "conditions.size", Message: "The number of nodes must be a whole number from 1 on.", Hint: "Leave it empty for as many as were asked for."}
			}
		}
		if v.Conditions.Lease, err = parseSpan(f.Lease, "conditions.lease"); err != nil {
			return err
		}
	}
	_, err := p.requesting().Review(ctx, a, id, v)
	return err
}

// parseSpan reads a length of time as people write it: 90m, 8h, 7d; 0 for "".
func parseSpan(text, field string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	var d time.Duration
	days, isDays := strings.CutSuffix(text, "d")
	n, err := strconv.ParseUint(days, 10, 12)
	if d = time.Duration(n) * 24 * time.Hour; !isDays || err != nil {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d <= 0 {
		return 0, &app.Error{Code: app.EInvalid, Field: field, Message: strconv.Quote(text) + " is not a length of time.", Hint: "It looks like 90m, 8h or 7d."}
	}
	return d, nil
}

func (p *Portal) requestConfirm(ctx context.Context, a app.Actor, id int64, f policypage.RequestForm) error {
	_, err := p.requesting().Confirm(ctx, a, id, f.PlanHash)
	return err
}

func (p *Portal) requestWithdraw(ctx context.Context, a app.Actor, id int64, f policypage.RequestForm) error {
	_, err := p.requesting().Withdraw(ctx, a, id, f.Reason)
	return err
}

func (p *Portal) requestBreakGlass(ctx context.Context, a app.Actor, id int64, f policypage.RequestForm) error {
	_, err := p.requesting().BreakGlass(ctx, a, id, f.PlanHash, f.Reason)
	return err
}

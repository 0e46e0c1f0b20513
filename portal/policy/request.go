package policy

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
	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/portal/site"
)

// ask requests a cluster.
func (p *Service) ask(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	return p.Creates.Ask(ctx, a, r)
}

// Submit is ask for a page, which redirects to the cluster and needs only its id.
func (p *Service) Submit(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	return p.Creates.SubmitRequest(ctx, a, r)
}

// pageOfRequests is how many requests a page lists.
const pageOfRequests = 50

func (p *Service) requestList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.requests(r.Context(), a, r.URL)
	if err != nil {
		return err
	}
	frame := p.Frame(r, "Requests")
	frame.At, frame.Live = "requests", true
	p.Render(w, r, http.StatusOK, RequestListPage(frame, l))
	return nil
}

// requests reads a page of the list.
func (p *Service) requests(ctx context.Context, a app.Actor, at *url.URL) (RequestList, error) {
	q := at.Query()
	l := RequestList{Now: p.Now(), All: q.Get("view") == "all", Actor: a}
	f := cluster.RequestFilter{View: cluster.RequestsMine, Limit: pageOfRequests + 1}
	if l.All {
		f.View = cluster.RequestsAll
	}
	f.Before, _ = strconv.ParseInt(q.Get("before"), 10, 64)
	var err error
	if l.Requests, err = p.Requests.Requests(ctx, a, f); err != nil {
		return l, err
	}
	if len(l.Requests) > pageOfRequests {
		l.Requests = l.Requests[:pageOfRequests]
		l.Older = l.Requests[pageOfRequests-1].ID
	}
	if f.Before == 0 {
		l.Inbox, err = p.Requests.Requests(ctx, a, cluster.RequestFilter{View: cluster.RequestsInbox, Limit: 100})
	}
	return l, err
}

func (p *Service) RequestsLive(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	l, err := p.requests(ctx, a, at)
	return []site.LiveOne{{ID: "waits", HTML: RequestListSummary(l)}, {ID: "lists", HTML: RequestListPart(l)}}, err
}

func (p *Service) requestShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showRequest(w, r, a, http.StatusOK, RequestForm{})
}

// requestBack redirects from the address of a form to the request, for reloads.
func (p *Service) requestBack(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	id, err := requestID(r)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/requests/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
	return nil
}

// showRequest shows a request, with the input of a form that failed.
func (p *Service) showRequest(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form RequestForm) error {
	id, err := requestID(r)
	if err != nil {
		return err
	}
	s, err := p.requestPage(r.Context(), a, id, form)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Request "+strconv.FormatInt(id, 10))
	f.At, f.Live = "requests", status == http.StatusOK
	p.Render(w, r, status, RequestShowPage(f, s))
	return nil
}

// requestPage loads the page of a request.
func (p *Service) requestPage(ctx context.Context, a app.Actor, id int64, form RequestForm) (s RequestShow, err error) {
	q, err := p.Requests.Request(ctx, a, id)
	if err != nil {
		return s, err
	}
	c, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return s, err
	}
	s = newRequestShow(q, a, form, p.Now(), site.TitlesOf(c))
	if q.Status == cluster.RequestScheduled {
		m, err := p.Windows.ClusterMaintenance(ctx, a, q.Cluster)
		if err != nil && app.CodeOf(err) != app.ENotFound {
			return s, err
		}
		v, err := p.Clusters.Cluster(ctx, a, q.Cluster)
		if err != nil && app.CodeOf(err) != app.ENotFound {
			return s, err
		}
		s.RunNow = m.MayRunNow(a, v.Cluster)
	}
	return s, nil
}

func (p *Service) RequestLive(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	id, err := requestNumber(path.Base(at.Path))
	if err != nil {
		return nil, err
	}
	s, err := p.requestPage(ctx, a, id, RequestForm{})
	if err != nil {
		return nil, err
	}
	parts := []site.LiveOne{{ID: "request-head", HTML: RequestHead(s)}, {ID: "request-forms", HTML: RequestForms(s)}, {ID: "request-ways", HTML: RequestWays(s)},
		{ID: "request-facts", HTML: RequestFacts(s)}}
	if len(s.Approvals) > 0 {
		parts = append(parts, site.LiveOne{ID: "approvals", HTML: RequestApprovals(s)})
	}
	return parts, nil
}

func requestID(r *http.Request) (int64, error) { return requestNumber(chi.URLParam(r, "request")) }

func requestNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, app.Errorf(app.ENotFound, "Request %.30q doesn't exist.", text)
	}
	return id, nil
}

// requestAct handles a form of a request's page, and redirects to the page.
func (p *Service) requestAct(act func(ctx context.Context, a app.Actor, id int64, form RequestForm) error) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if err := site.Form(r); err != nil {
			return err
		}
		id, err := requestID(r)
		if err != nil {
			return err
		}
		in := r.PostForm
		typed := RequestForm{Act: in.Get("act"), Reason: in.Get("reason"), PlanHash: in.Get("plan_hash"), Size: strings.TrimSpace(in.Get("size")), Lease: strings.TrimSpace(in.Get("lease"))}
		err = act(r.Context(), a, id, typed)
		e := app.AsError(err)
		switch {
		case err == nil:
			http.Redirect(w, r, "/requests/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
			return nil
		case e.Reason == app.StepUpReason:
			return err // the portal re-authenticates, and returns
		case e.Code == app.EInvalid, e.Code == app.EConflict, e.Code == app.EForbidden, e.Code == app.ETooLarge, e.Code == app.ENoLayout, e.Code == app.EQuota:
			typed.Field, typed.Message, typed.Hint = e.Field, e.Message, e.Hint
			return p.showRequest(w, r, a, site.StatusOf(err), typed)
		}
		return err
	}
}

func (p *Service) requestRunNow(ctx context.Context, a app.Actor, id int64, f RequestForm) error {
	_, err := p.Requests.RunNow(ctx, a, id, f.PlanHash, f.Reason)
	return err
}

func (p *Service) requestReview(ctx context.Context, a app.Actor, id int64, f RequestForm) error {
	v := appoperation.ReviewRequest{Verdict: cluster.ReviewDecision(f.Act), Reason: f.Reason, PlanHash: f.PlanHash}
	if v.Verdict == cluster.VerdictConditions {
		var err error
		if f.Size != "" {
			if v.Conditions.Size, err = strconv.Atoi(f.Size); err != nil || v.Conditions.Size < 1 {
				return &app.Error{Code: app.EInvalid, Field: "conditions.size", Message: "Nodes must be a whole number of at least 1.", Hint: "Leave the field empty to keep the requested size."}
			}
		}
		if v.Conditions.Lease, err = parseSpan(f.Lease, "conditions.lease"); err != nil {
			return err
		}
	}
	_, err := p.Requests.Review(ctx, a, id, v)
	return err
}

// parseSpan reads a duration as people write it: 90m, 8h, 7d; 0 for "".
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
		return 0, &app.Error{Code: app.EInvalid, Field: field, Message: "Invalid duration " + strconv.Quote(text) + ".", Hint: "Enter a duration such as 90m, 8h or 7d."}
	}
	return d, nil
}

func (p *Service) requestConfirm(ctx context.Context, a app.Actor, id int64, f RequestForm) error {
	_, err := p.Requests.Confirm(ctx, a, id, f.PlanHash)
	return err
}

func (p *Service) requestWithdraw(ctx context.Context, a app.Actor, id int64, f RequestForm) error {
	_, err := p.Requests.Withdraw(ctx, a, id, f.Reason)
	return err
}

func (p *Service) requestBreakGlass(ctx context.Context, a app.Actor, id int64, f RequestForm) error {
	_, err := p.Requests.BreakGlass(ctx, a, id, f.PlanHash, f.Reason)
	return err
}

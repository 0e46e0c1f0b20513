package activity

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/portal/page"
	"muster/portal/site"
)

// Service serves the page and the REST operation.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route { return []site.Route{site.Show("/activity", p.list)} }

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{site.Get("/activity", p.apiList, site.About("List what people did in the tenant, newest first"))}
}

type input struct {
	Who     string        `query:"who" maxLength:"200" doc:"Only what this person did; me is the caller"`
	Cluster string        `query:"cluster" maxLength:"128" doc:"Only what was done to this cluster, by ID or name"`
	Kind    activity.Kind `query:"kind" enum:"clusters,sharing,approvals,access,people,settings" doc:"Only this kind. People and settings are for admins"`
	Failed  bool          `query:"failed" doc:"Only operations that failed"`
	From    string        `query:"from" maxLength:"40" doc:"Earliest day or time"`
	To      string        `query:"to" maxLength:"40" doc:"Day or time to stop before"`
	Before  int64         `query:"before" minimum:"0" doc:"Cursor: the next value of the previous page"`
	Limit   int           `query:"limit" minimum:"0" maximum:"200" doc:"Maximum number of entries; 0 means 50"`
}

func (p *Service) apiList(ctx context.Context, in *input) (*site.Body[activity.FeedPart], error) {
	q := url.Values{"who": {in.Who}, "cluster": {in.Cluster}, "kind": {string(in.Kind)}, "from": {in.From}, "to": {in.To}}
	f, err := filterOf(q, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	f.Failed, f.Before, f.Limit = in.Failed, in.Before, in.Limit
	return site.Answered[activity.FeedPart](ctx, p.Site)(p.Activity.Activity(ctx, site.Caller(ctx), f))
}

// filterOf reads a filter from a form or a query.
func filterOf(q url.Values, a app.Actor) (f activity.FeedFilter, err error) {
	get := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	f = activity.FeedFilter{Who: get("who"), Cluster: get("cluster"), Kind: activity.Kind(get("kind")), Failed: get("failed") != ""}
	if f.Who == "me" {
		f.Who = a.Name()
	}
	if f.From, err = moment("from", get("from")); err != nil {
		return f, err
	}
	if f.To, err = moment("to", get("to")); err != nil {
		return f, err
	}
	if text := get("before"); text != "" {
		if f.Before, err = strconv.ParseInt(text, 10, 64); err != nil || f.Before < 1 {
			return f, &app.Error{Code: app.EInvalid, Field: "before", Message: "Invalid entry number.", Hint: "Start from the first page."}
		}
	}
	return f, nil
}

// moment reads a day or a time; zero for none.
func moment(field, text string) (t time.Time, err error) {
	if text == "" {
		return t, nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04"} {
		if t, err = time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return t, &app.Error{Code: app.EInvalid, Field: field, Message: "Invalid day or time " + strconv.Quote(text) + ".",
		Hint: "Use a day such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z."}
}

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.read(r.Context(), a, r.URL)
	status := http.StatusOK
	if e := app.AsError(err); err != nil && (e.Code == app.EInvalid || e.Code == app.ENotFound) {
		// An invalid filter is an error above an empty list.
		status, l.Error = http.StatusUnprocessableEntity, page.Complaint{Message: e.Message, Hint: e.Hint}
	} else if err != nil {
		return err
	}
	f := p.Frame(r, "Activity")
	f.At, f.Live, f.Scripts = "activity", status == http.StatusOK && l.Filter.Before == 0, []string{"activity.js"}
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

func (p *Service) read(ctx context.Context, a app.Actor, at *url.URL) (l List, err error) {
	l = List{Query: at.Query(), Admin: a.May("Audit")}
	if l.Filter, err = filterOf(l.Query, a); err != nil {
		return l, err
	}
	l.Part, err = p.Activity.Activity(ctx, a, l.Filter)
	return l, err
}

// Live is the page's live parts.
func (p *Service) Live(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	l, err := p.read(ctx, a, at)
	if err != nil {
		return nil, err
	}
	rows := make([]site.LiveRow, len(l.Part.Entries))
	for i, e := range l.Part.Entries {
		rows[i] = site.LiveRow{ID: rowID(e), HTML: Row(e, l.newDay(i))}
	}
	return []site.LiveOne{{ID: "activity", Rows: rows}, {ID: "under", HTML: Under(l)}}, nil
}

package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"muster/app"
	"muster/app/idle"
	"muster/app/label"
	"muster/portal/page"
	"muster/portal/quota"
	"muster/portal/site"
)

// clustersOnPage is how many clusters a page lists, and exportBatch how many are read at once for a file.
const (
	clustersOnPage = 50
	exportBatch    = 1000
	maxExported    = 100_000
)

// clusterFilter reads a filter from the address of a list; the owner "me" is the actor.
func clusterFilter(q url.Values, a app.Actor) (app.ClusterFilter, error) {
	f := app.ClusterFilter{Deleted: q.Get("deleted") == "true", Owner: strings.TrimSpace(q.Get("owner")), Status: app.ClusterStatus(q.Get("status")),
		Template: q.Get("template"), Provider: q.Get("provider"), Text: strings.TrimSpace(q.Get("q")), Sort: app.ClusterSort(q.Get("sort")),
		After: q.Get("after"), Limit: clustersOnPage}
	if f.Owner == "me" {
		f.Owner = a.Name()
	}
	var err error
	f.Labels, err = label.Selectors(strings.Split(q.Get("label"), ","))
	return f, err
}

// lists are the list of clusters and the their export.
type lists struct {
	*site.Site

	quota *quota.Service
}

func (p *lists) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters", p.List),
	}
}

func (p *lists) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters", p.APIList, site.About("List clusters, newest first")),
	}
}

func (p *lists) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if r.URL.Query().Get("format") == "csv" {
		return p.export(w, r, a)
	}
	l, err := p.read(r.Context(), a, r.URL)
	status := http.StatusOK
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		// An invalid filter is an error above the unfiltered list.
		status, l.Error = http.StatusUnprocessableEntity, page.Complaint{Message: e.Message, Hint: e.Hint}
	} else if err != nil {
		return err
	}
	f := p.Frame(r, "Clusters")
	f.At, f.Live = "clusters", true
	l.New, l.Month = f.May("CreateCluster"), p.quota.MonthCost(r, a)
	if c, err := p.Catalogs.Catalog(r.Context(), a); err == nil {
		l.Offer(c)
	}
	if l.moving() {
		f.Refresh = 5
	}
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

// read reads a page of the list.
func (p *lists) read(ctx context.Context, a app.Actor, at *url.URL) (List, error) {
	q := at.Query()
	filter, err := clusterFilter(q, a)
	l := List{Now: p.Now(), Actor: a, Query: q, Filter: filter}
	if err != nil {
		return l, err
	}
	if l.Page, err = p.Clusters.ClusterPage(ctx, a, l.Filter); err != nil {
		return l, err
	}
	warned, err := p.Idle.IdleWarnings(ctx, a)
	if err != nil {
		return l, err
	}
	for _, v := range warned {
		if l.Idle == nil {
			l.Idle = map[string]idle.View{}
		}
		l.Idle[v.Cluster] = v
	}
	l.Counts, err = p.Clusters.ClusterCounts(ctx, a, l.Filter)
	return l, err
}

func (p *lists) Live(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	l, err := p.read(ctx, a, at)
	if err != nil {
		return nil, err
	}
	l.New = a.May("CreateCluster")
	rows := make([]site.LiveRow, len(l.Page.Clusters))
	for i, c := range l.Page.Clusters {
		rows[i] = site.LiveRow{ID: RowID(c), HTML: Row(l, c)}
	}
	return []site.LiveOne{{ID: "summary", HTML: SummaryLine(l)}, {ID: "states", HTML: States(l)}, {ID: "list", Rows: rows},
		{ID: "under", HTML: ListUnder(l)}}, nil
}

// export writes all clusters that match a filter, for spreadsheets.
func (p *lists) export(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := clusterFilter(r.URL.Query(), a)
	if err != nil {
		return err
	}
	f.Limit, f.After = exportBatch, ""
	for n := 0; n < maxExported; n += exportBatch {
		part, err := p.Clusters.ClusterPage(r.Context(), a, f)
		if err != nil && n == 0 {
			return err
		}
		if err != nil { // part of the file has been sent; aborting shows that it's incomplete
			p.LogError(r, err, http.StatusInternalServerError)
			panic(http.ErrAbortHandler)
		}
		if n == 0 {
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
			w.Header().Set("Content-Disposition", `attachment; filename="clusters.csv"`)
		}
		if _, err := w.Write(app.ClustersCSV(part.Clusters, n == 0)); err != nil || part.Next == "" {
			return nil //nolint:nilerr // the client has disconnected, or has everything
		}
		f.After = part.Next
	}
	return nil
}

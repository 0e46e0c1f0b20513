package run

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// mostLines bounds how many lines of output a page shows of all nodes together; the rest is in the log.
const mostLines = 3000

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	s, err := p.read(r.Context(), a, chi.URLParam(r, "id"), chi.URLParam(r, "operation"))
	if app.AsError(err).Reason == plan.NoRun { // another operation has a page, too
		http.Redirect(w, r, strings.Replace(r.URL.Path, "/runs/", "/operations/", 1), http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Command on "+s.Cluster.Name)
	if !s.Operation.Status.Ended() {
		f.Live, f.Refresh = true, 5
	}
	p.Render(w, r, http.StatusOK, Page(f, s))
	return nil
}

// Live is what changes on the page while the command runs.
func (p *Service) Live(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	s, err := p.read(ctx, a, path.Base(path.Dir(path.Dir(at.Path))), path.Base(at.Path))
	if err != nil {
		return nil, err
	}
	rows := []site.LiveRow{}
	for _, n := range s.Nodes {
		rows = append(rows, site.LiveRow{ID: n.ID(), HTML: Output(s, n)})
	}
	return []site.LiveOne{{ID: "run-state", HTML: State(s)}, {ID: "run-nodes", Rows: rows}}, nil
}

func (p *Service) read(ctx context.Context, a app.Actor, id, number string) (Show, error) {
	operation, err := strconv.ParseInt(number, 10, 64)
	if err != nil || operation < 1 {
		return Show{}, app.Errorf(app.ENotFound, "Operation %.20q doesn't exist.", number)
	}
	c, err := p.Clusters.Cluster(ctx, a, id)
	if err != nil {
		return Show{}, err
	}
	v, err := p.Runs.Run(ctx, a, c.ID, operation)
	if err != nil {
		return Show{}, err
	}
	lines, err := p.Feed.Logs(ctx, a, c.ID, cluster.LogFilter{Operation: operation, Tail: true, Limit: mostLines})
	if err != nil {
		return Show{}, err
	}
	s := newShow(v, lines)
	s.Now, s.Cluster, s.Tabs = p.Now(), c.Cluster, p.ClusterTabs(a, c, "plan")
	s.May = a.MayIn("RunCommand", c.Cluster) && a.MayChange("RunCommand", c.Cluster) == nil
	s.MayCancel = a.MayIn("CancelOperation", c.Cluster) || app.CancelsOwnRun(a, v.Operation, c.Cluster)
	return s, nil
}

package home

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/template"
	"muster/app/usage"
	"muster/portal/site"
	templatepage "muster/portal/template"
)

// What the dashboard reads, however large the tenant is.
const (
	homeRequests = 6
	homeCards    = 4
	// For people with more live clusters than this, a script fetches the costs.
	homeSums = 300
)

func (p *Service) Home(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	h, err := p.homeOf(r, a)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Home")
	f.At, f.Live, f.Styles, f.Scripts = "home", true, templatepage.UserStyles, []string{"home.js"}
	if h.moving() {
		f.Refresh = 10
	}
	p.Render(w, r, http.StatusOK, HomePage(f, h))
	return nil
}

// homeOf gathers what the page shows. Only the person's own clusters are essential.
func (p *Service) homeOf(r *http.Request, a app.Actor) (Home, error) {
	ctx := r.Context()
	h, err := p.homeMoving(ctx, a)
	if err != nil {
		return h, err
	}
	if h.LeftLater = a.May("CreateCluster") && p.quota.Later(r, a); !h.LeftLater {
		h.Left = p.quota.Left(r, a)
	}
	if a.May("Usage") {
		if h.Home.Live() > homeSums {
			h.Later = append(h.Later, "mine")
		} else if h.Mine, err = p.monthOf(ctx, a, "mine"); err != nil {
			p.LogError(r, err, http.StatusInternalServerError)
		}
		if a.May("Quotas") {
			h.Later = append(h.Later, "tenant")
		}
	}
	if c, err := p.Catalogs.Catalog(ctx, a); err != nil {
		p.LogError(r, err, http.StatusInternalServerError)
	} else if h.New {
		h.Cards = slices.DeleteFunc(templatepage.NewCards(c, p.template.Prices(r, a), true), func(k templatepage.Card) bool {
			return k.InState() != template.StatePublished // not drafts or deprecated ones
		})
		h.More = max(len(h.Cards)-homeCards, 0)
		h.Cards = h.Cards[:len(h.Cards)-h.More]
	}
	return h, nil
}

// homeMoving gathers the parts that update live.
func (p *Service) homeMoving(ctx context.Context, a app.Actor) (h Home, err error) {
	h = Home{Now: p.Now(), Actor: a, New: a.May("CreateCluster")}
	if h.Home, err = p.Dashboard.Home(ctx, a); err != nil {
		return h, err
	}
	if h.Inbox, err = p.Requests.Requests(ctx, a, cluster.RequestFilter{View: cluster.RequestsInbox, Limit: homeRequests}); err != nil {
		return h, err
	}
	if h.Requests, err = p.Requests.Requests(ctx, a, cluster.RequestFilter{View: cluster.RequestsMine, Open: true, Limit: homeRequests}); err != nil {
		return h, err
	}
	h.Asked, err = p.ManualSteps.ManualSteps(ctx, a, execution.ManualStepQuery{Mine: true})
	return h, err
}

// Live reads the parts of the page that update live.
func (p *Service) Live(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	h, err := p.homeMoving(ctx, a)
	if err != nil {
		return nil, err
	}
	return []site.LiveOne{
		{ID: "home-summary", HTML: Summary(h)}, {ID: "home-waits", HTML: Waits(h)}, {ID: "home-clusters", HTML: Clusters(h)},
		{ID: "home-leases", HTML: Leases(h)}, {ID: "home-requests", HTML: Requests(h)}, {ID: "home-notices", HTML: Notices(h)},
	}, nil
}

// monthOf returns this month's costs by day: the actor's, or the whole tenant's.
func (p *Service) monthOf(ctx context.Context, a app.Actor, of string) (*MonthCost, error) {
	u, err := p.Usage.Usage(ctx, a, usage.Filter{Mine: of == "mine", Step: usage.IntervalDay})
	if err != nil {
		return nil, err
	}
	return newMonthCost(of, CostTitle(of), u, p.Now()), nil
}

// Quota is the part of the dashboard that is fetched after the page has loaded where many machines count.
func (p *Service) Quota(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if r.Header.Get("Muster-Part") == "" {
		http.Redirect(w, r, "/?whole=true", http.StatusSeeOther)
		return nil
	}
	p.Render(w, r, http.StatusOK, QuotaCard(leftBars(p.quota.Left(r, a))))
	return nil
}

// Cost is the part of the dashboard that is fetched after the page has loaded, since it reads the whole tenant.
func (p *Service) Cost(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	of := r.URL.Query().Get("of")
	if of != "tenant" {
		of = "mine"
	} else if !a.May("Quotas") {
		return app.Errorf(app.EForbidden, "Only admins and approvers can see the tenant's costs.")
	}
	if r.Header.Get("Muster-Part") == "" { // opened directly, not fetched by the script
		http.Redirect(w, r, "/usage", http.StatusSeeOther)
		return nil
	}
	m, err := p.monthOf(r.Context(), a, of)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, Cost(*m))
	return nil
}

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

// What a home reads. How much there is to read does not grow with what there is in the tenant.
const (
	homeRequests = 6
	homeCards    = 4
	// Someone with more live clusters than this waits for no sum of their costs: a script fetches it.
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

// homeOf gathers what the page shows. What a person has must be known; without the rest the page is worth showing too.
func (p *Service) homeOf(r *http.Request, a app.Actor) (Home, error) {
	ctx := r.Context()
	h, err := p.homeMoving(ctx, a)
	if err != nil {
		return h, err
	}
	h.Left = p.quota.Left(r, a)
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
			return k.InState() != template.TemplatePublished // drafts are to be tried, and deprecated ones not to be begun with
		})
		h.More = max(len(h.Cards)-homeCards, 0)
		h.Cards = h.Cards[:len(h.Cards)-h.More]
	}
	return h, nil
}

// homeMoving gathers what may change while someone looks.
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
	h.Asked, err = p.Questions.Questions(ctx, a, execution.QuestionQuery{Mine: true})
	return h, err
}

// Live reads what moves on the page.
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

// monthOf returns what this month's machines have cost day by day: those of the actor, or of everyone in the tenant.
func (p *Service) monthOf(ctx context.Context, a app.Actor, of string) (*MonthCost, error) {
	u, err := p.Usage.Usage(ctx, a, usage.UsageFilter{Mine: of == "mine", Step: usage.UsageDay})
	if err != nil {
		return nil, err
	}
	return newMonthCost(of, CostTitle(of, a), u, p.Now()), nil
}

// Cost is the part of the home that is fetched when the page stands, since it has to look at everything in the tenant.
func (p *Service) Cost(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	of := r.URL.Query().Get("of")
	if of != "tenant" {
		of = "mine"
	} else if !a.May("Quotas") {
		return app.Errorf(app.EForbidden, "Only admins and approvers see what everybody's machines cost.")
	}
	if r.Header.Get("Muster-Part") == "" { // a person followed the address
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

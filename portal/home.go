package portal

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/usage"
	homepage "muster/portal/home"
	templatepage "muster/portal/template"
)

// Homing is a power that a Muster may have: to tell people what they have. A portal without it begins with the list of clusters.
type Homing interface {
	Home(ctx context.Context, a app.Actor) (cluster.Home, error)
}

func (p *Portal) homing() Homing {
	m, _ := p.muster.(Homing)
	return m
}

// What a home reads. How much there is to read does not grow with what there is in the tenant.
const (
	homeRequests = 6
	homeCards    = 4
	// Somebody with more live clusters than this waits for no sum of their costs: a script fetches it.
	homeSums = 300
)

func (p *Portal) home(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.homing() == nil {
		http.Redirect(w, r, "/clusters", http.StatusSeeOther)
		return nil
	}
	h, err := p.homeOf(r, a)
	if err != nil {
		return err
	}
	f := p.frame(r, "Home")
	f.At, f.Live, f.Styles, f.Scripts = "home", true, userStyles, []string{"home.js"}
	if h.Moving() {
		f.Refresh = 10
	}
	p.render(w, r, http.StatusOK, homepage.HomePage(f, h))
	return nil
}

// homeOf gathers what the page shows. What a person has must be known; without the rest the page is worth showing too.
func (p *Portal) homeOf(r *http.Request, a app.Actor) (homepage.Home, error) {
	ctx := r.Context()
	h, err := p.homeMoving(ctx, a)
	if err != nil {
		return h, err
	}
	h.Left = p.quotaLeft(r, a)
	if p.money() != nil && a.May("Usage") {
		if h.Home.Live() > homeSums {
			h.Later = append(h.Later, "mine")
		} else if h.Mine, err = p.monthOf(ctx, a, "mine"); err != nil {
			p.logError(r, err, http.StatusInternalServerError)
		}
		if a.May("Quotas") {
			h.Later = append(h.Later, "tenant")
		}
	}
	if c, err := p.muster.Catalog(ctx, a); err != nil {
		p.logError(r, err, http.StatusInternalServerError)
	} else if h.New {
		h.Cards = slices.DeleteFunc(templatepage.NewCards(c, p.prices(r, a), true), func(k templatepage.Card) bool {
			return k.InState() != app.TemplatePublished // drafts are to be tried, and deprecated ones not to be begun with
		})
		h.More = max(len(h.Cards)-homeCards, 0)
		h.Cards = h.Cards[:len(h.Cards)-h.More]
	}
	return h, nil
}

// homeMoving gathers what may change while somebody looks.
func (p *Portal) homeMoving(ctx context.Context, a app.Actor) (h homepage.Home, err error) {
	h = homepage.Home{Now: p.now(), Actor: a, New: a.May("CreateCluster"), Money: p.money() != nil, Asks: p.requesting() != nil, Notices: p.noticing() != nil}
	if h.Home, err = p.homing().Home(ctx, a); err != nil {
		return h, err
	}
	if m := p.requesting(); m != nil {
		if h.Inbox, err = m.Requests(ctx, a, app.RequestFilter{View: app.RequestsInbox, Limit: homeRequests}); err != nil {
			return h, err
		}
		if h.Requests, err = m.Requests(ctx, a, app.RequestFilter{View: app.RequestsMine, Open: true, Limit: homeRequests}); err != nil {
			return h, err
		}
	}
	if m := p.questioning(); m != nil {
		h.Asked, err = m.Questions(ctx, a, execution.QuestionQuery{Mine: true})
	}
	return h, err
}

// homeLive reads what moves on the page.
func (p *Portal) homeLive(ctx context.Context, a app.Actor, _ *url.URL) ([]liveOne, error) {
	if p.homing() == nil {
		return nil, errNotLive
	}
	h, err := p.homeMoving(ctx, a)
	if err != nil {
		return nil, err
	}
	return []liveOne{
		{ID: "home-summary", HTML: homepage.Summary(h)}, {ID: "home-waits", HTML: homepage.Waits(h)}, {ID: "home-clusters", HTML: homepage.Clusters(h)},
		{ID: "home-leases", HTML: homepage.Leases(h)}, {ID: "home-requests", HTML: homepage.Requests(h)}, {ID: "home-notices", HTML: homepage.Notices(h)},
	}, nil
}

// monthOf gives what this month's machines have cost day by day: those of the actor, or of everybody in the tenant.
func (p *Portal) monthOf(ctx context.Context, a app.Actor, of string) (*homepage.MonthCost, error) {
	u, err := p.money().Usage(ctx, a, usage.UsageFilter{Mine: of == "mine", Step: usage.UsageDay})
	if err != nil {
		return nil, err
	}
	return homepage.NewMonthCost(of, homepage.CostTitle(of, a), u, p.now()), nil
}

// homeCost is the part of the home that is fetched when the page stands, since it has to look at everything in the tenant.
func (p *Portal) homeCost(w http.ResponseWriter, r *http.Request, a app.Actor) error {
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
	p.render(w, r, http.StatusOK, homepage.Cost(*m))
	return nil
}

package idle

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/template"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Service serves the pages about idle clusters.
type Service struct {
	*site.Site
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/idle", p.show),
		site.Submit("/clusters/{id}/idle", p.turn),
		site.Submit("/clusters/{id}/keep", p.keep),
		site.Show("/admin/idle", p.policy),
		site.Submit("/admin/idle", p.savePolicy),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/idle", p.apiShow, site.About("Show whether a cluster is idle, why not, and what happens when")),
		site.Put("/clusters/{id}/idle", p.apiTurn, site.About("Turn a cluster's idle policy off or on")),
		site.Post("/clusters/{id}/keep", p.apiKeep, site.About("Keep an idle cluster running for a while"), site.Answers(http.StatusOK)),
		site.Get("/idle-policy", p.apiPolicy, site.About("Show the tenant's idle policy, for clusters whose templates have none")),
		site.Put("/idle-policy", p.apiSetPolicy, site.About("Set the tenant's idle policy")),
		site.Get("/usage/savings", p.apiSavings, site.About("Show what was saved by putting idle clusters to sleep")),
	}
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := Page{Tabs: p.ClusterTabs(a, view, "overview"), Now: p.Now(), Cluster: view.Cluster}
	if c.View, err = p.Idle.ClusterIdle(r.Context(), a, view.ID); err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, ClusterPage(p.ClusterFrame(r, "Use of "+view.Name), c))
	return nil
}

func (p *Service) turn(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id := chi.URLParam(r, "id")
	if _, err := p.Idle.SetClusterIdle(r.Context(), a, id, r.PostForm.Get("off") != ""); err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+url.PathEscape(id)+"/idle", http.StatusSeeOther)
	return nil
}

func (p *Service) keep(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	by, err := keepLength(r.PostForm.Get("for"))
	if err != nil {
		return err
	}
	v, err := p.Idle.KeepCluster(r.Context(), a, chi.URLParam(r, "id"), by)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+url.PathEscape(v.Cluster)+"/idle", http.StatusSeeOther)
	return nil
}

// keepLength reads for how long a cluster is to be kept.
func keepLength(text string) (time.Duration, error) {
	by, err := template.ParseLength(text)
	if err != nil {
		e := app.AsError(err)
		return 0, &app.Error{Code: app.EInvalid, Field: "for", Message: e.Message, Hint: e.Hint}
	}
	return by, nil
}

func (p *Service) apiShow(ctx context.Context, in *site.IDInput) (*site.Body[idle.View], error) {
	return p.answer(ctx)(p.Idle.ClusterIdle(ctx, site.Caller(ctx), in.ID))
}

type turnInput struct {
	site.IDInput
	Body struct {
		Off bool `json:"off" doc:"Whether the policy is turned off for this cluster"`
	}
}

func (p *Service) apiTurn(ctx context.Context, in *turnInput) (*site.Body[idle.View], error) {
	return p.answer(ctx)(p.Idle.SetClusterIdle(ctx, site.Caller(ctx), in.ID, in.Body.Off))
}

type keepInput struct {
	site.IDInput
	Body struct {
		For string `json:"for" maxLength:"40" doc:"How long to keep it, such as 2h"`
	}
}

func (p *Service) apiKeep(ctx context.Context, in *keepInput) (*site.Body[idle.View], error) {
	by, err := keepLength(in.Body.For)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return p.answer(ctx)(p.Idle.KeepCluster(ctx, site.Caller(ctx), in.ID, by))
}

func (p *Service) answer(ctx context.Context) func(idle.View, error) (*site.Body[idle.View], error) {
	return func(v idle.View, err error) (*site.Body[idle.View], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Reasons = site.OrEmpty(v.Reasons)
		return &site.Body[idle.View]{Body: v}, nil
	}
}

type savingsInput struct {
	From string `query:"from" maxLength:"64" doc:"Day or time, in UTC unless it has a zone; default: start of this month"`
	To   string `query:"to" maxLength:"64" doc:"Day or time, in UTC unless it has a zone; default: now"`
}

func (p *Service) apiSavings(ctx context.Context, in *savingsInput) (*site.Body[idle.Savings], error) {
	var from, to time.Time
	for _, x := range []struct {
		field, text string
		into        *time.Time
	}{{"from", in.From, &from}, {"to", in.To, &to}} {
		if x.text == "" {
			continue
		}
		var err error
		if *x.into, err = template.ParseMoment(x.text); err != nil {
			e := app.AsError(err)
			return nil, p.Fail(ctx, &app.Error{Code: app.EInvalid, Field: x.field, Message: e.Message, Hint: e.Hint})
		}
	}
	s, err := p.Idle.IdleSavings(ctx, site.Caller(ctx), from, to)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[idle.Savings]{Body: s}, nil
}

func (p *Service) apiPolicy(ctx context.Context, _ *struct{}) (*site.Body[idle.Default], error) {
	d, err := p.Idle.IdlePolicy(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[idle.Default]{Body: idle.DefaultOf(d)}, nil
}

type policyInput struct {
	Body struct {
		Policy *idle.PolicyView `json:"policy,omitempty" doc:"Leave out or set to null for none"`
	}
}

func (p *Service) apiSetPolicy(ctx context.Context, in *policyInput) (*site.Body[idle.Default], error) {
	var d *template.IdlePolicy
	if in.Body.Policy != nil {
		var err error
		if d, err = in.Body.Policy.Parse(); err != nil {
			return nil, p.Fail(ctx, err)
		}
	}
	if err := p.Idle.SetIdlePolicy(ctx, site.Caller(ctx), d); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return p.apiPolicy(ctx, nil)
}

// SavedWords is what was saved, for people: "$1.20 in 3.0 h".
func SavedWords(s idle.Savings) string {
	return humanize.Money(s.Saved, s.Currency) + " in " + humanize.Number(s.Hours, 1) + " h"
}

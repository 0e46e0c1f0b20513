package place

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/providervalue"
	"muster/app/template"
)

// Store is what Service needs of the database.
type Store interface {
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	CreateCluster(ctx context.Context, n cluster.NewCluster) (app.Operation, error)
	// EndPlaces writes that nothing more is tried. EConflict, reason ReasonTaken, where another server was faster, as for LeavePlace.
	EndPlaces(ctx context.Context, m Move) error
	// LeavePlace begins the rollback of the attempt that failed, and writes that the place is being left, in one transaction.
	LeavePlace(ctx context.Context, n cluster.NewOperation, m Move) error
	// MarkPlace writes what came of a candidate that was not tried.
	MarkPlace(ctx context.Context, m Move) error
	// PlacesOf returns the places of the request that a cluster was created for, by the cluster of any attempt; nil for none.
	PlacesOf(ctx context.Context, tenant, cluster string) (*layout.Places, error)
	// PlaceRunsDue returns those, of all tenants, whose attempt has ended, or whose machines are deleted, oldest first.
	PlaceRunsDue(ctx context.Context, limit int) ([]Run, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	// Stock returns what was learned since then about places of a tenant.
	Stock(ctx context.Context, tenant string, since time.Time) (map[layout.Place]layout.Stock, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
}

// RequestStore keeps requests.
type RequestStore interface {
	SaveRequest(ctx context.Context, n cluster.NewRequest) (cluster.Request, error)
}

// Config is what Service is created from.
type Config struct {
	Store     Store
	Requested RequestStore
	Now       func() time.Time
	Catalogs  *catalog.Service
	Creates   *cluster.Creates
	Preflight *cluster.Preflight
	Clusters  *cluster.Finder
	Views     *cluster.Views
	Masks     *cluster.Masks
	Requests  *operation.Requests
	RollBacks *operation.RollBacks
}

// creates is promoted: what is not about several places is left to it.
type creates = cluster.Creates

// Service creates clusters in one of several places.
type Service struct {
	*creates
	Config
}

// New returns a Service on top of its needs.
func New(c Config) *Service { return &Service{c.Creates, c} }

// Bounds of what a preview takes.
const (
	stockAge  = 24 * time.Hour
	solveTime = 20 * time.Second // for all candidates
)

// evaluated is a candidate with all that is needed to try it.
type evaluated struct {
	candidate layout.Candidate
	weighed   cluster.Evaluation
	refused   bool // by a policy
}

// candidates are what a request means, evaluated and ordered; none where it names one place only. A dry run is a preview.
func (s *Service) candidates(ctx context.Context, actor app.Actor, r *cluster.CreateRequest, dry bool) ([]evaluated, error) {
	if err := r.PlaceOptions.Check(); err != nil {
		return nil, err
	}
	c, err := s.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	t, err := c.TemplateFor(actor, r.Template)
	if err != nil {
		return nil, err
	}
	if t != nil && r.Order == "" {
		r.Order = t.PlaceOrder
	}
	places := expand(*r, t)
	if len(places) == 0 {
		return nil, nil
	}
	if len(places) > 1 && len(r.ProviderValues.Clean()) > 0 {
		return nil, &app.Error{Code: app.EInvalid, Field: "provider_values", Message: "You can't set provider values for a request with several places.",
			Hint: "Choose one provider and one hardware type."}
	}
	if len(places) > layout.MaxPlaces {
		return nil, &app.Error{Code: app.EInvalid, Field: "places",
			Message: fmt.Sprintf("These are %d places with the template's; a request can try at most %d.", len(places), layout.MaxPlaces),
			Hint:    "Name fewer places."}
	}
	stock, err := s.Store.Stock(ctx, actor.Tenant, s.Now().Add(-stockAge))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, solveTime)
	defer cancel()
	list := make([]evaluated, 0, len(places))
	for _, p := range places {
		e, err := s.evaluate(ctx, actor, *r, p, c, dry)
		if err != nil {
			return nil, err
		}
		e.candidate.Stock = stock[layout.Place{Provider: e.candidate.Provider, Zone: p.Zone, Hardware: stockHardware(e)}]
		list = append(list, e)
	}
	order(list, r.Order)
	return list, nil
}

// stockHardware is the hardware that most machines of a candidate are of.
func stockHardware(e evaluated) string {
	name, most := e.candidate.Hardware, 0
	for _, g := range e.weighed.Preview.Layout.Groups {
		if e.candidate.Hardware == "" && g.Count > most {
			name, most = g.Hardware, g.Count
		}
	}
	return name
}

// only is a request for one place.
func only(r cluster.CreateRequest, p layout.Place) cluster.CreateRequest {
	r.Provider, r.Zone, r.Hardware, r.PlaceOptions, r.PlanHash = p.Provider, p.Zone, p.Hardware, layout.PlaceOptions{}, ""
	return r
}

// evaluate works out what a request comes to in one place. What keeps it from being created there is its reason, not an error.
func (s *Service) evaluate(ctx context.Context, actor app.Actor, r cluster.CreateRequest, p layout.Place, c *template.Catalog, dry bool) (evaluated, error) {
	e := evaluated{candidate: layout.Candidate{Place: p, State: layout.CandidateImpossible}}
	w, err := s.Creates.EvaluateRequest(ctx, actor, only(r, p), dry)
	if err != nil {
		known := app.AsError(err)
		if known.Code == app.EInternal {
			return e, err
		}
		e.candidate.Reason = humanize.Upper(known.ForPeople())
		return e, nil
	}
	e.weighed = w
	k, l := &e.candidate, w.Preview.Layout
	k.Provider, k.CostPerHour, k.MostPerHour, k.Currency = l.Provider, l.CostPerHour, l.MostPerHour, l.Currency
	k.Duration, k.PlanHash = w.Preview.Duration, w.Preview.PlanHash
	for _, g := range l.Groups {
		if one := layout.PricingOf(w.Draft.Definition.Hardware[g.Hardware], c.Providers[l.Provider]); k.Pricing == "" || k.Pricing == layout.PricingOnDemand {
			k.Pricing = one
		}
		if !k.Pricing.Allowed(r.Pricing) {
			k.Reason = "Machines here are paid for as " + k.Pricing.Text() + "."
			return e, nil
		}
	}
	if w.Decision.Outcome == policy.OutcomeRefuse {
		k.Reason, e.refused = w.Decision.Reason, true
		return e, nil
	}
	for _, c := range w.Decision.Changes { // another place than was named, which is or isn't a candidate of its own
		if c.Field == policy.FieldProvider && p.Provider != "" || c.Field == policy.FieldHardware && p.Hardware != "" {
			k.Reason, e.refused = c.Sentence(), true
			return e, nil
		}
	}
	k.State = layout.CandidateReady
	return e, nil
}

// Preview works out what a create would do in each place, and returns all of the first with the table of all. Nothing is accepted or written.
func (s *Service) Preview(ctx context.Context, actor app.Actor, r cluster.CreateRequest) (cluster.Preview, error) {
	if err := actor.Authorize("Preview"); err != nil {
		return cluster.Preview{}, err
	}
	ctx = catalog.HoldCatalog(ctx)
	list, err := s.candidates(ctx, actor, &r, true)
	switch {
	case err != nil:
		return cluster.Preview{}, err
	case len(list) == 0:
		return s.Creates.Preview(ctx, actor, r)
	case list[0].candidate.State != layout.CandidateReady:
		return cluster.Preview{}, noPlace(list)
	}
	s.askAccounts(ctx, actor.Tenant, list)
	p, err := s.CompletePreview(ctx, actor, list[0].weighed, nil)
	if err != nil {
		return p, err
	}
	p.PlanHash = hash(list)
	for _, e := range list {
		p.Places = append(p.Places, e.candidate)
	}
	return p, nil
}

// askAccounts adds what the accounts say, all at once: each takes half a second at most.
func (s *Service) askAccounts(ctx context.Context, tenant string, list []evaluated) {
	var all sync.WaitGroup
	for i := range list {
		e := &list[i]
		if e.candidate.State != layout.CandidateReady {
			continue
		}
		all.Go(func() {
			l := e.weighed.Preview.Layout
			own := providervalue.Own{Values: e.weighed.Request.ProviderValues}
			answer, found, err := s.Preflight.AskAccount(ctx, tenant, l.Provider, own, e.weighed.Draft.Needs(l))
			e.candidate.Account = accountText(answer, found, err)
		})
	}
	all.Wait()
}

// accountText says what an account answered about its limits.
func accountText(answer *cluster.AccountAnswer, found []family.Finding, err error) string {
	if err != nil {
		return ""
	}
	for _, f := range found {
		if !f.OK && !f.Warning {
			return f.Message
		}
	}
	switch {
	case answer == nil:
		return ""
	case answer.State == cluster.AccountChecked:
		return "has room"
	}
	return string(answer.State)
}

// Ask is cluster.Creates.Ask for a request that may name several places.
func (s *Service) Ask(ctx context.Context, actor app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	ctx = catalog.HoldCatalog(ctx)
	answer, err := s.SubmitRequest(ctx, actor, r)
	if err != nil || answer.Request.Cluster == "" {
		return answer, err
	}
	v, err := s.Views.Cluster(ctx, actor, answer.Request.Cluster)
	v.Changes = answer.Request.Decision.Changes
	answer.Cluster = &v
	return answer, err
}

// SubmitRequest is Ask for those who need no more of the cluster than its id.
func (s *Service) SubmitRequest(ctx context.Context, actor app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	if err := actor.Authorize("SubmitRequest"); err != nil {
		return cluster.Answer{}, err
	}
	ctx = catalog.HoldCatalog(ctx)
	if err := r.Check(actor); err != nil {
		return cluster.Answer{}, err
	}
	list, err := s.candidates(ctx, actor, &r, false)
	switch {
	case err != nil:
		return cluster.Answer{}, err
	case len(list) == 0:
		return s.Creates.SubmitRequest(ctx, actor, r)
	case list[0].candidate.State != layout.CandidateReady:
		return cluster.Answer{}, noPlace(list)
	}
	all := hash(list)
	if r.PlanHash != "" && r.PlanHash != all {
		return cluster.Answer{}, &app.Error{Code: app.EConflict, Reason: "plan_changed",
			Message: "The plan has changed since the preview because the catalog, a price or the request changed.",
			Hint:    "Check the new preview and submit again."}
	}
	return s.submit(ctx, actor, r, list, all)
}

// submit accepts a request, or lets it wait: what is approved is every place that can be tried, at the highest price.
func (s *Service) submit(ctx context.Context, actor app.Actor, r cluster.CreateRequest, list []evaluated, all string) (cluster.Answer, error) {
	set, first := cluster.PlaceSet{Order: r.Order}, list[0].weighed
	if set.Order == "" {
		set.Order = layout.OrderCheapest
	}
	var needs []policy.RequiredApproval
	most := 0.0
	for _, e := range list {
		set.Candidates = append(set.Candidates, e.candidate)
		if e.candidate.State != layout.CandidateReady {
			continue
		}
		set.Payloads = append(set.Payloads, cluster.Keep(e.weighed))
		first.Facts.CostPerHour, first.Facts.CPU = max(first.Facts.CostPerHour, e.weighed.Facts.CostPerHour), max(first.Facts.CPU, e.weighed.Facts.CPU)
		most = max(most, e.candidate.Highest())
		first.Facts.Hardware = append(slices.Clone(first.Facts.Hardware), e.weighed.Facts.Hardware...)
		if e.weighed.Decision.Outcome != policy.OutcomeApprove {
			continue
		}
		for _, n := range e.weighed.Decision.Needs {
			if !slices.ContainsFunc(needs, func(m policy.RequiredApproval) bool { return m.Policy == n.Policy }) {
				needs = append(needs, n)
			}
		}
		if first.Decision.Outcome != policy.OutcomeApprove {
			first.Decision = e.weighed.Decision
		}
	}
	slices.Sort(first.Facts.Hardware)
	first.Facts.Hardware = slices.Compact(first.Facts.Hardware)
	q := s.RequestToKeep(actor, r, first)
	q.Request.Terms.PlanHash, q.Request.Terms.Places = all, set.Candidates
	if most > first.Preview.Layout.CostPerHour {
		q.Request.Terms.Layout.MostPerHour = most
	}
	if len(needs) > 0 {
		kept := cluster.Keep(first)
		kept.PlanHash, kept.Places = all, &set
		q.Open(kept, needs)
		saved, err := s.Requested.SaveRequest(ctx, q)
		return cluster.Answer{Request: saved, Warnings: first.Preview.Warnings}, err
	}
	n, err := s.DraftCluster(ctx, actor, first.Request, first.Draft, first.Preview)
	if err != nil {
		return cluster.Answer{}, err
	}
	n.TryIn(set, "", 0)
	q.Request.Status, q.Request.EndedAt, q.Request.Cluster = cluster.RequestAccepted, q.Request.RequestedAt, n.Cluster.ID
	n.Request = &q
	if _, err := s.Store.CreateCluster(ctx, n); err != nil {
		return cluster.Answer{}, err
	}
	return cluster.Answer{Request: q.Request, Warnings: first.Preview.Warnings}, nil
}

// Places returns the places of the request that a cluster was created for, and what was tried; nil where it named one place only.
func (s *Service) Places(ctx context.Context, actor app.Actor, id string) (*layout.Places, error) {
	c, err := s.Config.Clusters.AuthorizedCluster(ctx, actor, "Places", id)
	if err != nil {
		return nil, err
	}
	p, err := s.Store.PlacesOf(ctx, c.Tenant, c.ID)
	if err != nil || p == nil {
		return nil, err
	}
	m, err := s.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	for i := range p.Candidates {
		k := &p.Candidates[i]
		k.Reason = m.Hide(k.Reason)
		// A person may have brought it to its end in another way, such as by accepting fewer machines.
		if k.Cluster == c.ID && k.State == layout.CandidateTrying && c.Status == app.ClusterActive {
			k.State = layout.CandidateUsed
		}
	}
	return p, nil
}

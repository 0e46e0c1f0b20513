package layout

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Place and PlaceOrder are template.Place and template.PlaceOrder, since templates name places too.
type (
	Place      = template.Place
	PlaceOrder = template.PlaceOrder
)

// The orders.
const (
	OrderCheapest = template.OrderCheapest
	OrderFastest  = template.OrderFastest
	OrderListed   = template.OrderListed
)

// Pricing is how a machine is paid for.
type Pricing string

// The kinds of price.
const (
	PricingOnDemand       Pricing = "on_demand"
	PricingSpot           Pricing = "spot"
	PricingSpotOrOnDemand Pricing = "spot_or_on_demand" // spot, and on demand where the cloud has no spot capacity
)

// Pricings are what a request can ask for.
var Pricings = []Pricing{PricingSpot, PricingOnDemand}

// Text is the kind of price for people.
func (p Pricing) Text() string {
	return map[Pricing]string{PricingOnDemand: "on demand", PricingSpot: "spot", PricingSpotOrOnDemand: "spot, else on demand"}[p]
}

// Allowed reports whether a machine of this kind of price may be had where these are asked for; none means any.
func (p Pricing) Allowed(asked []Pricing) bool {
	if len(asked) == 0 {
		return true
	}
	for _, one := range strings.Split(string(p), "_or_") {
		if !slices.Contains(asked, Pricing(one)) {
			return false
		}
	}
	return true
}

// PricingOf is how machines of a flavor are paid for at a provider: by the hardware's field spot, or else by the provider's setting of that name.
func PricingOf(f template.Flavor, p *template.ProviderSpec) Pricing {
	spot := f.Extra["spot"]
	if spot == "" && p != nil && p.Settings["spot"] != nil {
		spot = fmt.Sprint(p.Settings["spot"])
	}
	switch spot {
	case "fallback":
		return PricingSpotOrOnDemand
	case "", "no", "off", "never", "false":
		return PricingOnDemand
	}
	return PricingSpot
}

// MaxPlaces is how many places a request may name, and how many candidates they may come to.
const MaxPlaces = template.MaxPlaces

// PlaceOptions are the places of a request. Fields that a place leaves empty are those of the request.
type PlaceOptions struct {
	Places []Place `json:"places,omitempty"`
	// Pricing are the kinds of price that are wanted; none means any.
	Pricing []Pricing  `json:"pricing,omitempty"`
	Order   PlaceOrder `json:"place_order,omitempty"`
}

// Check refuses what can't be meant, whatever the catalog says.
func (o PlaceOptions) Check() error {
	if len(o.Places) > MaxPlaces {
		return &app.Error{Code: app.EInvalid, Field: "places",
			Message: fmt.Sprintf("A request can name at most %d places; this one names %d.", MaxPlaces, len(o.Places)),
			Hint:    "Name fewer providers, zones or hardware types."}
	}
	for _, p := range o.Pricing {
		if !slices.Contains(Pricings, p) {
			return &app.Error{Code: app.EInvalid, Field: "pricing", Message: fmt.Sprintf("Unknown kind of price %.40q.", string(p)),
				Hint: "Use spot, on_demand or both."}
		}
	}
	return o.Order.Check()
}

// CandidateState says whether a place can be tried.
type CandidateState string

// The states of a candidate, before and while its request is carried out.
const (
	CandidateReady      CandidateState = "ready"
	CandidateImpossible CandidateState = "impossible"
	CandidateTrying     CandidateState = "trying"
	CandidateFull       CandidateState = "no_capacity" // or the account's limit is reached
	CandidateRefused    CandidateState = "refused"     // by a quota of the tenant, or because the plan has changed
	CandidateFailed     CandidateState = "failed"      // for another reason
	CandidateUsed       CandidateState = "used"        // the cluster was created here
)

// Stock is what this installation recently learned about a place, for one tenant.
type Stock struct {
	FullAt    time.Time `json:"no_capacity_at,omitzero"`
	Full      string    `json:"no_capacity,omitempty"` // what the provider said
	CreatedAt time.Time `json:"created_at,omitzero"`   // of the latest machine that was created
}

// Candidate is a place that a request may be carried out in, and what that comes to.
type Candidate struct {
	Place
	Pricing     Pricing        `json:"pricing,omitempty"`
	CostPerHour float64        `json:"cost_per_hour"`
	MostPerHour float64        `json:"most_per_hour,omitempty"` // with the dearest fallback hardware
	Currency    string         `json:"currency,omitempty"`
	Duration    time.Duration  `json:"duration,omitempty"`
	Account     string         `json:"account,omitempty"` // what the provider's account says about its limits
	Stock       Stock          `json:"stock,omitzero"`
	State       CandidateState `json:"state"`
	Reason      string         `json:"reason,omitempty"` // why it is impossible, or was left
	PlanHash    string         `json:"plan_hash,omitempty"`
	Cluster     string         `json:"cluster,omitempty"` // of the attempt
	At          time.Time      `json:"at,omitzero"`       // when its state was last set
}

// Highest is the most that a candidate may cost per hour.
func (c Candidate) Highest() float64 { return max(c.CostPerHour, c.MostPerHour) }

// Price says what a candidate costs per hour.
func (c Candidate) Price() string {
	return Layout{CostPerHour: c.CostPerHour, MostPerHour: c.MostPerHour, Currency: c.Currency}.Price()
}

// Seen says what was recently learned about the stock of a place: "no capacity at 12:03 UTC".
func (s Stock) Seen(now time.Time) string {
	var parts []string
	if !s.FullAt.IsZero() {
		parts = append(parts, "no capacity "+humanize.Ago(now, s.FullAt))
	}
	if !s.CreatedAt.IsZero() {
		parts = append(parts, "machine created "+humanize.Ago(now, s.CreatedAt))
	}
	return strings.Join(parts, ", ")
}

// Tried says what came of an attempt: "aws zone a medium: no capacity at 12:03 UTC".
func (c Candidate) Tried() string {
	what := map[CandidateState]string{CandidateTrying: "in progress", CandidateFull: "no capacity", CandidateRefused: "not possible", CandidateFailed: "failed",
		CandidateUsed: "created"}[c.State]
	if what == "" {
		return ""
	}
	if !c.At.IsZero() && c.State != CandidateTrying {
		what += " at " + c.At.UTC().Format("15:04 UTC")
	}
	return c.Text() + ": " + what
}

// Places are the candidates of a request in their order, with what was tried. Current is the cluster of the latest attempt.
type Places struct {
	Order      PlaceOrder  `json:"place_order"`
	Current    string      `json:"current_cluster,omitempty"`
	State      PlacesState `json:"state"`
	Message    string      `json:"message,omitempty"`
	Candidates []Candidate `json:"candidates"`
}

// PlacesState is how far the places of a request have been tried.
type PlacesState string

// The states.
const (
	PlacesTrying  PlacesState = "trying"
	PlacesLeaving PlacesState = "leaving" // what was created in the place that is full is being deleted
	PlacesDone    PlacesState = "done"    // the cluster was created
	PlacesEnded   PlacesState = "ended"   // no place is left, or a person has taken over
)

// Left are the candidates that an earlier attempt has left, in words.
func (p Places) Left() (lines []string) {
	for _, c := range p.Candidates {
		if words := c.Tried(); words != "" && c.State != CandidateTrying && c.State != CandidateUsed {
			lines = append(lines, words)
		}
	}
	return lines
}

// SolveIn solves a request for its zone, where it names one: all nodes are in that zone then.
func SolveIn(ctx context.Context, s Solver, c *template.Catalog, r Request) (Layout, error) {
	if t := c.Templates[r.Template]; t != nil && r.Zone != "" {
		r.Provider = cmp.Or(r.Provider, t.Defaults.Provider)
	}
	p := c.Providers[r.Provider]
	switch {
	case r.Zone != "" && r.Provider == "":
		return Layout{}, &app.Error{Code: app.EInvalid, Field: "zone", Message: "A zone needs a provider.", Hint: "Choose the provider that the zone belongs to."}
	case r.Zone == "" || p == nil:
		return s.Solve(ctx, c, r)
	}
	if !slices.Contains(p.Zones, r.Zone) {
		e := &app.Error{Code: app.ENoLayout, Field: "zone", Reason: "no_solution",
			Message: fmt.Sprintf("Provider %s has no zone %.40q in the catalog.", p.Name, r.Zone)}
		if len(p.Zones) > 0 {
			e.Hint = "Its zones are " + humanize.Some(p.Zones, 10) + "."
		}
		return Layout{}, e
	}
	one, only := *c, *p
	only.Zones, one.Providers = []string{r.Zone}, maps.Clone(c.Providers)
	one.Providers[r.Provider] = &only
	l, err := s.Solve(ctx, &one, r)
	if err != nil {
		return l, err
	}
	l.Groups = slices.Clone(l.Groups)
	for i := range l.Groups {
		l.Groups[i].Zone = cmp.Or(l.Groups[i].Zone, r.Zone)
	}
	return l, nil
}

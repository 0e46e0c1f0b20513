package place

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
)

func place(provider, zone, hardware string) layout.Place {
	return layout.Place{Provider: provider, Zone: zone, Hardware: hardware}
}

func TestPlacesOfARequest(t *testing.T) {
	t.Parallel()
	named := &template.Template{Places: []template.Place{place("a", "", "small"), place("b", "b-1", "")}}
	for _, c := range []struct {
		name     string
		template *template.Template
		provider string
		asked    []layout.Place
		want     []layout.Place
	}{
		{"one place is none of several", &template.Template{}, "a", nil, nil},
		{"each once, in their order", nil, "", []layout.Place{place("b", "", ""), place("a", "", ""), place("b", "", "")},
			[]layout.Place{place("b", "", ""), place("a", "", "")}},
		{"what a place leaves out is the request's", nil, "a", []layout.Place{place("", "a-1", ""), place("b", "", "")},
			[]layout.Place{place("a", "a-1", ""), place("b", "", "")}},
		{"a template's, where the request names none", named, "", nil, named.Places},
		{"those of a template's that fit", named, "b", nil, []layout.Place{place("b", "b-1", "")}},
		{"a place is narrowed down to the template's", named, "", []layout.Place{place("b", "", "big"), place("a", "", "")},
			[]layout.Place{place("b", "b-1", "big"), place("a", "", "small")}},
		{"what the template does not have is kept, to be refused", named, "", []layout.Place{place("c", "", "")}, []layout.Place{place("c", "", "")}},
	} {
		r := cluster.CreateRequest{Request: layout.Request{Provider: c.provider}, PlaceOptions: layout.PlaceOptions{Places: c.asked}}
		if got := expand(r, c.template); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOrderOfPlaces(t *testing.T) {
	t.Parallel()
	list := func() (out []evaluated) {
		for _, k := range []layout.Candidate{
			{Place: place("impossible", "", ""), State: layout.CandidateImpossible},
			{Place: place("dear", "", ""), State: layout.CandidateReady, CostPerHour: 3, Duration: time.Minute},
			{Place: place("unknown", "", ""), State: layout.CandidateReady, Duration: time.Second},
			{Place: place("cheap", "", ""), State: layout.CandidateReady, CostPerHour: 1, Duration: time.Hour},
			{Place: place("cheap too", "", ""), State: layout.CandidateReady, CostPerHour: 1, Duration: time.Hour},
		} {
			out = append(out, evaluated{candidate: k})
		}
		return out
	}
	hashes := map[string]bool{}
	for by, want := range map[layout.PlaceOrder]string{
		"":                   "[cheap cheap too dear unknown impossible]",
		layout.OrderCheapest: "[cheap cheap too dear unknown impossible]",
		layout.OrderFastest:  "[unknown dear cheap cheap too impossible]",
		layout.OrderListed:   "[dear unknown cheap cheap too impossible]",
	} {
		l := list()
		order(l, by)
		var got []string
		for _, e := range l {
			got = append(got, e.candidate.Provider)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", by, got, want)
		}
		hashes[hash(l)] = true
		l[0].candidate.CostPerHour++ // a price is part of what is approved
		hashes[hash(l)] = true
	}
	if len(hashes) != 6 {
		t.Errorf("%d different hashes of 3 orders with 2 prices each", len(hashes))
	}
}

func TestOutOfCapacity(t *testing.T) {
	t.Parallel()
	step := func(a app.Action, s app.StepState, c app.Code) app.Step {
		return app.Step{Action: a, State: s, ErrorCode: c}
	}
	done, full := step(app.ActionCreate, app.StepSucceeded, ""), step(app.ActionCreate, app.StepFailed, app.ECapacity)
	for _, c := range []struct {
		name  string
		steps []app.Step
		want  bool
	}{
		{"nothing failed", []app.Step{done}, false},
		{"no capacity for one", []app.Step{done, full}, true},
		{"the account's limit", []app.Step{step(app.ActionCreate, app.StepFailed, app.EQuota)}, true},
		{"wrong credentials", []app.Step{full, step(app.ActionCreate, app.StepFailed, app.ECredentials)}, false},
		{"a service failed too", []app.Step{full, step(app.ActionStart, app.StepFailed, app.EScript)}, false},
		{"what was dropped does not count", []app.Step{full, step(app.ActionStart, app.StepDropped, "")}, true},
	} {
		if _, got := outOfCapacity(c.steps); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestKindsOfPrice(t *testing.T) {
	t.Parallel()
	spot := func(text string) template.Flavor { return template.Flavor{Extra: map[string]string{"spot": text}} }
	account := &template.ProviderSpec{Settings: map[string]any{"spot": true}}
	for _, c := range []struct {
		flavor  template.Flavor
		account *template.ProviderSpec
		want    layout.Pricing
		asked   []layout.Pricing
		allowed bool
	}{
		{spot("no"), account, layout.PricingOnDemand, []layout.Pricing{layout.PricingSpot}, false},
		{spot(""), account, layout.PricingSpot, []layout.Pricing{layout.PricingSpot}, true},
		{spot("yes"), nil, layout.PricingSpot, nil, true},
		{spot("fallback"), nil, layout.PricingSpotOrOnDemand, []layout.Pricing{layout.PricingSpot}, false},
		{spot("fallback"), nil, layout.PricingSpotOrOnDemand, []layout.Pricing{layout.PricingSpot, layout.PricingOnDemand}, true},
		{template.Flavor{}, nil, layout.PricingOnDemand, []layout.Pricing{layout.PricingOnDemand}, true},
	} {
		if got := layout.PricingOf(c.flavor, c.account); got != c.want || got.Allowed(c.asked) != c.allowed {
			t.Errorf("%v: %s, and of %v allowed is %v", c.flavor.Extra, got, c.asked, got.Allowed(c.asked))
		}
	}
}

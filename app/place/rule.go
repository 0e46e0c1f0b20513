package place

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
)

// expand returns the places that a request means, each once, in the order in which they are listed. What a place leaves empty is the request's; where
// the template names places, they are narrowed down to these.
func expand(r cluster.CreateRequest, t *template.Template) []layout.Place {
	var out []layout.Place
	add := func(p layout.Place) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	asked := r.Places
	if len(asked) == 0 && (t != nil && len(t.Places) > 0 || len(r.Pricing) > 0) {
		asked = []layout.Place{{}}
	}
	for _, p := range asked {
		p = layout.Place{Provider: cmp.Or(p.Provider, r.Provider), Zone: cmp.Or(p.Zone, r.Zone), Hardware: cmp.Or(p.Hardware, r.Hardware)}
		found := false
		if t != nil {
			for _, q := range t.Places {
				if both, is := p.Within(q); is {
					found = true
					add(both)
				}
			}
		}
		if !found { // where the template does not allow it, its evaluation says so
			add(p)
		}
	}
	return out
}

// order sorts candidates: those that can be tried first, in the order that was asked for; ties stay as they were listed. Places whose price is not known
// come after those whose price is.
func order(list []evaluated, by layout.PlaceOrder) {
	unknown := func(k layout.Candidate) int {
		if k.CostPerHour == 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(x, y evaluated) int {
		a, b := x.candidate, y.candidate
		switch {
		case a.State != b.State && a.State == layout.CandidateReady:
			return -1
		case a.State != b.State && b.State == layout.CandidateReady:
			return 1
		case a.State != layout.CandidateReady:
			return 0
		}
		switch by {
		case layout.OrderFastest:
			return cmp.Or(cmp.Compare(a.Duration, b.Duration), cmp.Compare(unknown(a), unknown(b)), cmp.Compare(a.CostPerHour, b.CostPerHour))
		case layout.OrderListed:
			return 0
		}
		return cmp.Or(cmp.Compare(unknown(a), unknown(b)), cmp.Compare(a.CostPerHour, b.CostPerHour), cmp.Compare(a.Duration, b.Duration))
	})
}

// hash identifies the plans of all places that can be tried, their prices and their order: what is approved is all of it.
func hash(list []evaluated) string {
	type part struct {
		Place layout.Place
		Plan  string
		Cost  float64
		Most  float64
		Lease string
	}
	var parts []part
	for _, e := range list {
		if k := e.candidate; k.State == layout.CandidateReady {
			parts = append(parts, part{k.Place, k.PlanHash, k.CostPerHour, k.MostPerHour, e.weighed.Preview.Lease.String()})
		}
	}
	b, err := json.Marshal(parts)
	if err != nil {
		panic("place: a candidate holds only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// outOfCapacity returns, of an operation that has failed, the first step for which the provider had no capacity, or whose account's limit is reached.
// It is false where something else failed too: another place would not help.
func outOfCapacity(steps []app.Step) (first app.Step, full bool) {
	for _, s := range steps {
		switch {
		case s.State != app.StepFailed:
		case s.Action != app.ActionCreate || s.ErrorCode != app.ECapacity && s.ErrorCode != app.EQuota:
			return app.Step{}, false
		case !full:
			first, full = s, true
		}
	}
	return first, full
}

// noPlace says why none of several places can be tried.
func noPlace(list []evaluated) error {
	var lines []string
	refused := true
	for _, e := range list {
		lines = append(lines, e.candidate.Text()+": "+e.candidate.Reason)
		refused = refused && e.refused
	}
	e := &app.Error{Code: app.ENoLayout, Reason: "no_place", Field: "places",
		Message: fmt.Sprintf("The cluster can't be created in any of the %d places. %s", len(list), strings.Join(lines, " ")),
		Hint:    "Name other places, or change the request."}
	if refused {
		e.Code, e.Reason = app.EForbidden, "policy"
	}
	return e
}

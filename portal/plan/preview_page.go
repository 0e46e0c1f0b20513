package plan

import (
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/policy"
	"muster/portal/page"
)

// Preview is what a create would do, drawn.
type Preview struct {
	cluster.Preview
	At       string // the provider, as people call it
	Racks    []Rack
	Legend   []page.Hue
	Timeline Timeline
	Cheapest Fix // leads to the cheapest layout, where that costs a real amount less
}

// NewPreview draws a preview.
func NewPreview(p cluster.Preview, title func(kind, name string) string) *Preview {
	v := &Preview{Preview: p, At: title("provider", p.Layout.Provider), Timeline: NewTimeline(p.Plan)}
	hue := map[string]int{}
	for _, g := range p.Layout.Groups {
		for _, s := range g.Services {
			if _, ok := hue[s]; !ok {
				hue[s] = len(hue) % page.Hues
				v.Legend = append(v.Legend, page.Hue{Name: title("service", s), Index: hue[s]})
			}
		}
	}
	at := 1
	for _, g := range p.Layout.Groups {
		r := Rack{
			Count: g.Count, Hardware: title("hardware", g.Hardware), Image: title("image", g.Image), Cost: g.CostPerHour,
			Zone: g.Zone, First: app.NodeName(at), Last: app.NodeName(at + g.Count - 1),
		}
		at += g.Count
		for _, s := range g.Services {
			r.Services = append(r.Services, page.Hue{Name: title("service", s), Index: hue[s]})
		}
		v.Racks = append(v.Racks, r)
	}
	return v
}

// refused tells whether a policy would refuse it, and waits whether people would have to approve it.
func (p Preview) refused() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse
}

func (p Preview) waits() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove
}

// Fix is a change that makes a layout possible. Link fills in the form; it is "" where the template must change.
type Fix struct{ Text, Link string }

// Explanation says why there is no layout. Problems are what is wrong with the request; Conflict is what cannot hold
// together, with the place where it is written as its Hint. Minimal: each part of Conflict is needed for it.
type Explanation struct {
	Problems, Conflict []page.Complaint
	Minimal            bool
	Fixes              []Fix
}

func (x Explanation) folded() []page.Complaint { return x.Conflict[len(x.shown()):] }

func (x Explanation) shown() []page.Complaint { return x.Conflict[:min(len(x.Conflict), shownClauses)] }

// shownClauses is how many parts of a conflict are shown at once. Where many services keep apart every two of each other,
// there are far more.
const shownClauses = 12

func actionList(actions []app.Action) string {
	var words []string
	for _, a := range actions {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

// problems are what a preview foresees, as complaints.
func problems(found []family.Finding) (list []page.Complaint) {
	for _, f := range found {
		list = append(list, page.Complaint{Message: f.Message, Hint: f.Hint})
	}
	return list
}

// ShortHash is enough of a plan's hash to tell two plans apart by eye.
func ShortHash(h string) string { return h[:min(len(h), 10)] }

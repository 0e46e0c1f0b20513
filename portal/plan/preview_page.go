package plan

import (
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/policy"
	"muster/portal/page"
)

// Preview is the preview of a create, ready to draw.
type Preview struct {
	cluster.Preview
	At       string // the provider's display name
	Racks    []Rack
	Legend   []page.Hue
	Timeline Timeline
	Cheapest Fix // links to the cheapest layout, if it saves a significant amount
}

// NewPreview prepares a preview for drawing.
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

// refused reports whether a policy would refuse it, and waits whether approval would be required.
func (p Preview) refused() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse
}

func (p Preview) waits() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove
}

// Fix is a change that makes a layout possible. Link fills in the form; it's "" if the template must change.
type Fix struct{ Text, Link string }

// Explanation says why there is no layout. Problems are errors of the request; Conflict holds conflicting
// constraints, each with its origin as its Hint. Minimal: the conflict needs every one of them.
type Explanation struct {
	Problems, Conflict []page.Complaint
	Minimal            bool
	Fixes              []Fix
}

func (x Explanation) folded() []page.Complaint { return x.Conflict[len(x.shown()):] }

func (x Explanation) shown() []page.Complaint { return x.Conflict[:min(len(x.Conflict), shownClauses)] }

// shownClauses is how many constraints of a conflict are shown unfolded. If many services must be kept apart,
// there are far more.
const shownClauses = 12

func actionList(actions []app.Action) string {
	var words []string
	for _, a := range actions {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

// problems are a preview's findings as complaints.
func problems(found []family.Finding) (list []page.Complaint) {
	for _, f := range found {
		list = append(list, page.Complaint{Message: f.Message, Hint: f.Hint})
	}
	return list
}

// ShortHash is enough of a plan's hash to tell two plans apart by eye.
func ShortHash(h string) string { return h[:min(len(h), 10)] }

package page

import (
	"slices"
	"strings"

	"muster/app"
)

// ClusterNew is the form for a new cluster, with what was typed so far and, once it makes sense, the preview.
type ClusterNew struct {
	Templates []*app.Template
	Template  *app.Template // the chosen one; nil where there is none

	// What was typed, as it was typed.
	Name, Size, Provider, Hardware, Image, Prefer, Lease, OnFailure, AtLeast string
	Services                                                                 []string

	Parameters []ParameterField // of the template, with what was typed

	// What may be chosen.
	Providers, Hardwares, Images, AllServices, Prefers, Leases, OnFailures []Choice

	// Errors by field. The key "" is for what fits no field.
	Errors  map[string]Complaint
	Notice  string // said above the preview, such as that the plan has changed
	Preview *Preview
	Open    bool // the advanced part is unfolded

	Explanation *Explanation    // why there is no preview; nil where that is not known
	Left        []app.QuotaLine // what is left for the actor, the tightest limit of each measure
}

// Explanation says why there is no layout. Problems are what is wrong with the request; Conflict is what cannot hold
// together, with the place where it is written as its Hint. Minimal: each part of Conflict is needed for it.
type Explanation struct {
	Problems, Conflict []Complaint
	Minimal            bool
	Fixes              []Fix
}

// shownClauses is how many parts of a conflict are shown at once. Where many services keep apart every two of each other,
// there are far more.
const shownClauses = 12

func (x Explanation) shown() []Complaint  { return x.Conflict[:min(len(x.Conflict), shownClauses)] }
func (x Explanation) folded() []Complaint { return x.Conflict[len(x.shown()):] }

// Fix is a change that makes a layout possible. Link fills in the form; it is "" where the template must change.
type Fix struct{ Text, Link string }

// Choice is an option of a select or a checkbox.
type Choice struct {
	Value, Label, Help string
	Chosen             bool
}

// Complaint is what is wrong with a field, and what would be right.
type Complaint struct{ Message, Hint string }

// Error gives the complaint about a field, empty where there is none.
func (f ClusterNew) Error(field string) Complaint { return f.Errors[field] }

// SizeHint says how many nodes the template allows.
func (f ClusterNew) SizeHint() string {
	if f.Template == nil {
		return ""
	}
	return Sizes(f.Template.Constraints.Size)
}

// Preview is what a create would do, drawn.
type Preview struct {
	app.Preview
	At       string // the provider, as people call it
	Racks    []Rack
	Legend   []Hue
	Timeline Timeline
}

// NewPreview draws a preview.
func NewPreview(p app.Preview, title func(kind, name string) string) *Preview {
	v := &Preview{Preview: p, At: title("provider", p.Layout.Provider), Timeline: NewTimeline(p.Plan)}
	hue := map[string]int{}
	for _, g := range p.Layout.Groups {
		for _, s := range g.Services {
			if _, ok := hue[s]; !ok {
				hue[s] = len(hue) % hues
				v.Legend = append(v.Legend, Hue{Name: title("service", s), Index: hue[s]})
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
			r.Services = append(r.Services, Hue{Name: title("service", s), Index: hue[s]})
		}
		v.Racks = append(v.Racks, r)
	}
	return v
}

// hues is how many colours services have in the style sheet; more services than that share them.
const hues = 8

// Hue is a service with the number of its colour.
type Hue struct {
	Name  string
	Index int
}

// Rack is a group of equal nodes in the picture of a layout.
type Rack struct {
	Count           int
	First, Last     string
	Hardware, Image string
	Zone            string
	Services        []Hue
	Cost            float64 // per hour, of all nodes of the group
}

// rackTiles is how many machines of a group are drawn one by one.
const rackTiles = 48

// Tiles is how many machines are drawn, and Rest how many more there are.
func (r Rack) Tiles() int { return min(r.Count, rackTiles) }

// Rest is how many machines are not drawn.
func (r Rack) Rest() int { return r.Count - r.Tiles() }

// Names says which nodes these are.
func (r Rack) Names() string {
	if r.Count == 1 {
		return r.First
	}
	return r.First + "–" + r.Last
}

// has tells whether a service is ticked.
func (f ClusterNew) has(service string) bool { return slices.Contains(f.Services, service) }

// shortHash is enough of a plan's hash to tell two plans apart by eye.
func shortHash(h string) string { return h[:min(len(h), 10)] }

// summary is a timeline row for those who cannot see it.
func (r TimelineRow) summary() string {
	var parts []string
	for _, w := range r.Words {
		parts = append(parts, strings.TrimSpace(w.Service+" "+actionList(w.Actions)))
	}
	return r.Label() + ": " + strings.Join(parts, "; ")
}

func actionList(actions []app.Action) string {
	var words []string
	for _, a := range actions {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

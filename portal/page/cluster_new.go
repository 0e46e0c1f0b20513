package page

import (
	"slices"
	"strconv"
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
	Visibility, Group                                                      string
	Visibilities, Groups                                                   []Choice // Groups is nil where there is none to choose

	// Errors by field. The key "" is for what fits no field.
	Errors  map[string]Complaint
	Notice  string // said above the preview, such as that the plan has changed
	Preview *Preview
	Open    bool // the advanced part is unfolded

	Link    string       // to the form as it is filled in
	Summary []FieldError // what is to be put right, of a form that was sent
	Adds    app.Amounts  // what the cluster would take of quotas
	Fit     *Fix         // what the quota leaves room for, where that is less

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

// FieldError is what is wrong with a field, for the list above a form.
type FieldError struct{ Field, Title, Message string }

// foldTemplates is from how many templates on the choice is folded behind the chosen one.
const foldTemplates = 6

// others are the templates beside the chosen one.
func (f ClusterNew) others() (list []*app.Template) {
	for _, t := range f.Templates {
		if t != f.Template {
			list = append(list, t)
		}
	}
	return list
}

// QuotaChange is a limit before and after.
type QuotaChange struct {
	QuotaBar
	After float64
}

// changes are the limits that apply, with what the cluster would take of each.
func (f ClusterNew) changes() (list []QuotaChange) {
	for _, l := range f.Left {
		list = append(list, QuotaChange{QuotaBar{l.Measure, l.Used, l.Limit}, l.Used + f.Adds.Of(l.Measure)})
	}
	return list
}

// Over tells whether the limit would be broken.
func (q QuotaChange) Over() bool { return q.After > q.Limit*(1+1e-9)+1e-9 }

// Words say what is used, what would be, and of how much.
func (q QuotaChange) Words() string {
	s := Amount(q.Used) + " → " + Amount(q.After) + " of " + Amount(q.Limit)
	if q.Over() {
		s += ", too much"
	}
	return s
}

func (q QuotaChange) afterWidth() string { return QuotaBar{Used: q.After, Limit: q.Limit}.Width() }

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
	Cheapest Fix // leads to the cheapest layout, where that costs a real amount less
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

// mostGridCells is how many machines of a large group are drawn; of a larger one, each stands for several.
const mostGridCells = 1200

// Grid is a large group of machines as a picture of equal cells, drawn as a pattern so that it weighs little.
type Grid struct {
	Columns, Rows, Last int // Last is how many cells the last row has
	Per                 int // machines for each cell
}

// gridPitch is from one cell to the next, in the picture's units.
const gridPitch = 10

// Grid gives the picture of a group that is too large for tiles.
func (r Rack) Grid() Grid {
	g := Grid{Columns: 40, Per: (r.Count + mostGridCells - 1) / mostGridCells}
	cells := (r.Count + g.Per - 1) / g.Per
	g.Rows = (cells + g.Columns - 1) / g.Columns
	g.Last = cells - (g.Rows-1)*g.Columns
	return g
}

// Large tells whether a group is drawn as a grid.
func (r Rack) Large() bool { return r.Count > rackTiles }

func (g Grid) viewBox() string {
	return "0 0 " + strconv.Itoa(g.Columns*gridPitch) + " " + strconv.Itoa(g.Rows*gridPitch)
}

func pitches(n int) string { return strconv.Itoa(n * gridPitch) }

// stripe is where the mark of a cell's service i of n stands, and how high it is.
func stripe(i, n int) (y, height string) {
	h := 6.0 / float64(max(n, 1))
	return decimal(1 + float64(i)*h), decimal(h)
}

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

func actionList(actions []app.Action) string {
	var words []string
	for _, a := range actions {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

// problems are what a preview foresees, as complaints.
func problems(found []app.Finding) (list []Complaint) {
	for _, f := range found {
		list = append(list, Complaint{Message: f.Message, Hint: f.Hint})
	}
	return list
}

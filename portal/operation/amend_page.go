package operation

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	appplan "muster/app/plan"
	"muster/app/policy"
	apptemplate "muster/app/template"
	"muster/portal/page"
	"muster/portal/plan"
	"muster/portal/template"
)

// Amend is the page on which a cluster that stands is changed: what is asked, and what that would do.
type Amend struct {
	Now       time.Time
	View      cluster.ClusterView
	Form      AmendForm
	Preview   *AmendPreview // nil until there is something to show
	Complaint page.Complaint
	Errors    map[string]page.Complaint // by field, of those that carry their own
	Notice    string
}

// Wrong tells whether something is in the way.
func (a Amend) Wrong() bool { return a.Complaint.Message != "" || len(a.Errors) > 0 }

// AmendForm is what is asked, as it was typed, and what may be chosen.
type AmendForm struct {
	Kind                    app.OperationKind
	Size, SizeHint, Batch   string
	Services, Nodes         []page.Choice
	Hardwares, Images       []page.Choice
	OnFailures              []page.Choice
	AtLeast                 string
	NoRestart               bool
	Parameters              []ParameterNow
	Config, Base            string // the configuration as it is typed, and as it was shown
	OpenNodes, OpenMachines bool   // parts that are unfolded
}

// ParameterNow is the field of a parameter with what it was when the form was shown.
type ParameterNow struct {
	template.ParameterField
	Was string
}

// WasField is the name of the field that keeps what it was.
func (f ParameterNow) WasField() string { return "was-" + f.Name }

// AmendKindTitle is what stands above the form of a kind.
func AmendKindTitle(k app.OperationKind) string {
	switch k {
	case app.OperationResize:
		return "Grow or shrink"
	case app.OperationReconfigure:
		return "Change the configuration"
	}
	verb := k.Verb()
	return string(verb[0]-'a'+'A') + verb[1:]
}

// help says what the kind is for.
func (f AmendForm) help() string {
	switch f.Kind {
	case app.OperationResize:
		return "Nodes that go are drained first: what runs on them is handed over before they are given back."
	case app.OperationAddServices:
		return "Services come to nodes that stand, or to new ones where the layout wants that."
	case app.OperationRemoveServices:
		return "They are stopped and removed. What depends on them has to go with them."
	case app.OperationReconfigure:
		return "Only services that read what has changed are touched."
	case app.OperationCompare:
		return "What sets services up says what it would change. Nothing is changed; what it said stands on the page Health until something else is done."
	case app.OperationStart:
		return "What they need is started with them."
	case app.OperationStop:
		return "What depends on them is stopped too. Machines stay, and cost money."
	case app.OperationRestart:
		return "What depends on them is restarted too."
	case app.OperationUpgrade:
		return "The cluster goes over to what the catalog says by now, some nodes at a time, and halts at the first that is not well."
	case app.OperationRepair:
		return "Repair finishes pending steps and replaces failed nodes. They keep their names, host keys and services."
	}
	return ""
}

// posts tells whether the form is sent in a body, since what it holds does not belong into an address.
func (f AmendForm) posts() bool { return f.Kind == app.OperationReconfigure }

// batches tells whether it can be said on how many nodes at a time something is done.
func (f AmendForm) batches() bool {
	return f.Kind == app.OperationUpgrade || f.Kind == app.OperationRestart || f.Kind == app.OperationReconfigure
}

func (a Amend) path(rest string) string { return "/clusters/" + a.View.ID + "/change" + rest }

// amendPreview is what an amendment would do, drawn.
type AmendPreview struct {
	cluster.AmendPreview
	Ask      cluster.Amendment
	Drawn    []AmendNode // those on which something is done
	Rest     int         // how many others stay as they are
	Hidden   int         // of Drawn, for which there was no room
	Timeline plan.Timeline
	left     time.Duration // until the lease ends; 0: no end
	lost     []string      // nodes whose machines are gone already
}

// AmendNode is a node with what happens to it.
type AmendNode struct {
	cluster.AmendedNode
	Hardware, Image string // as people call them
	Parts           []AmendPart
}

// AmendPart is a service of a node. Mark is "added", "removed", "worked" or ""; Word says what is done.
type AmendPart struct {
	page.Hue
	Mark, Word string
}

// amendNodes is how many nodes are drawn.
const amendNodes = 96

// newAmendPreview draws what an amendment would do.
func newAmendPreview(p cluster.AmendPreview, ask cluster.Amendment, v cluster.ClusterView, now time.Time, title func(kind, name string) string) *AmendPreview {
	out := &AmendPreview{AmendPreview: p, Ask: ask, Timeline: plan.NewTimeline(p.Plan)}
	if left := v.ExpiresAt.Sub(now); !v.ExpiresAt.IsZero() && left > 0 {
		out.left = left
	}
	for _, n := range v.Nodes {
		if n.Lost() {
			out.lost = append(out.lost, n.Name)
		}
	}
	hue := map[string]int{}
	colour := func(s string) page.Hue {
		if _, ok := hue[s]; !ok {
			hue[s] = len(hue) % page.Hues
		}
		return page.Hue{Name: title("service", s), Index: hue[s]}
	}
	for _, n := range p.Nodes {
		if !n.Touched() {
			out.Rest++
			continue
		}
		if len(out.Drawn) == amendNodes {
			out.Hidden++
			continue
		}
		d := AmendNode{AmendedNode: n, Hardware: title("hardware", n.Hardware), Image: title("image", n.Image)}
		for _, s := range n.Services {
			part := AmendPart{Hue: colour(s)}
			switch {
			case n.Change != "":
			case slices.Contains(n.Added, s):
				part.Mark, part.Word = "added", "new"
			case n.Work[s] != "":
				part.Mark, part.Word = "worked", string(n.Work[s])
			}
			d.Parts = append(d.Parts, part)
		}
		for _, s := range n.Removed {
			d.Parts = append(d.Parts, AmendPart{colour(s), "removed", "goes"})
		}
		out.Drawn = append(out.Drawn, d)
	}
	return out
}

// Sign marks the node: + for one that comes, − for one that goes, ± for one that is made again, ~ for one that changes.
func (n AmendNode) Sign() string {
	switch n.Change {
	case appplan.NodeNew:
		return "+"
	case appplan.NodeGone:
		return "−"
	case appplan.NodeReplaced:
		return "±"
	}
	return "~"
}

// Word says what happens to the node.
func (n AmendNode) Word() string {
	switch n.Change {
	case appplan.NodeNew:
		return "new"
	case appplan.NodeGone:
		return "goes"
	case appplan.NodeReplaced:
		return "replaced"
	}
	return "changes"
}

// Class is how the node is drawn.
func (n AmendNode) Class() string {
	if n.Change == "" {
		return "an-touched"
	}
	return "an-" + string(n.Change)
}

// takes tells whether something is taken away that does not come back by itself.
func (p AmendPreview) takes() bool {
	return p.Kind == app.OperationRemoveServices || p.Kind == app.OperationStop ||
		slices.ContainsFunc(p.Nodes, func(n cluster.AmendedNode) bool {
			return n.Change == appplan.NodeGone || n.Change == appplan.NodeReplaced && !slices.Contains(p.lost, n.Name)
		})
}

func (p AmendPreview) refused() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse
}
func (p AmendPreview) waits() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove
}

// button is what stands on the button that does it.
func (p AmendPreview) button() string {
	if p.waits() {
		return "Ask for approval"
	}
	if p.Kind == app.OperationRepair {
		return "Repair cluster"
	}
	return "Apply changes"
}

// more is what the change costs until the lease ends, with its sign; "" where that is not known.
func (p AmendPreview) more() string {
	d := (p.After.CostPerHour - p.Before.CostPerHour) * p.left.Hours()
	switch {
	case p.left == 0 || p.After.CostPerHour == p.Before.CostPerHour:
		return ""
	case d < 0:
		return "−" + humanize.Cost(-d)
	}
	return "+" + humanize.Cost(d)
}

// field is a hidden field of a form.
type field struct{ Name, Value string }

// fields carry what was asked into the form that does it.
func (p AmendPreview) fields() []field {
	m := p.Ask
	out := []field{{"kind", string(m.Kind)}, {"plan_hash", p.PlanHash}}
	add := func(name, value string) {
		if value != "" && value != "0" {
			out = append(out, field{name, value})
		}
	}
	add("size", strconv.Itoa(m.Size))
	for _, s := range m.Services {
		add("services", s)
	}
	for _, n := range m.Nodes {
		add("nodes", n)
	}
	add("hardware", m.Hardware)
	add("image", m.Image)
	add("batch", strconv.Itoa(m.Batch))
	add("on_failure", string(m.OnFailure))
	add("at_least", string(m.AtLeast))
	if m.NoRestart {
		add("no_restart", "yes")
	}
	if len(m.Config)+len(m.Parameters) > 0 {
		if m.Config == nil {
			m.Config = map[string]any{}
		}
		b, err := json.Marshal(m.Config)
		if err != nil {
			panic("page: a configuration that was read from JSON can be written so: " + err.Error())
		}
		add("overlay", string(b))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		out = append(out, field{template.ParameterField{Parameter: apptemplate.Parameter{Name: name}}.Field(), apptemplate.ParameterValueText(m.Parameters[name])})
	}
	return out
}

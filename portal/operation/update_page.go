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
	"muster/app/run"
	apptemplate "muster/app/template"
	"muster/portal/page"
	"muster/portal/plan"
	"muster/portal/template"
)

// Update is the page to change a cluster: the form and its preview.
type Update struct {
	Now       time.Time
	View      cluster.View
	Form      UpdateForm
	Preview   *UpdatePreview // nil without a valid form
	Complaint page.Complaint
	Errors    map[string]page.Complaint // by field
	Notice    string
}

// Wrong reports whether the form has errors.
func (a Update) Wrong() bool { return a.Complaint.Message != "" || len(a.Errors) > 0 }

// UpdateForm is the form as typed, with its options.
type UpdateForm struct {
	Kind                    app.OperationKind
	Size, SizeHint, Batch   string
	KeptMachine             string // that is used again
	Services, Nodes         []page.Choice
	Hardwares, Images       []page.Choice
	OnFailures              []page.Choice
	MinAvailable            string
	KeepFailed              []page.Choice
	Volumes                 []page.Choice // what happens to those of nodes and services that go; none where the cluster has none
	NoRestart               bool
	Command, Timeout        string
	Action                  *run.Action // that is run instead of a command
	Parameters              []ParameterNow
	Config, Base            string // the configuration as typed, and as it was shown
	OpenNodes, OpenMachines bool   // parts that are unfolded
}

// ParameterNow is the field of a parameter with its value when the form was shown.
type ParameterNow struct {
	template.ParameterField
	Was string
}

// WasField is the name of the field with the former value.
func (f ParameterNow) WasField() string { return "was-" + f.Name }

// title is the page's title.
func (f UpdateForm) title() string {
	if f.KeptMachine != "" {
		return "Use kept machine again"
	}
	if f.Action != nil {
		return f.Action.Title
	}
	return UpdateKindTitle(f.Kind)
}

// UpdateKindTitle is the title of a kind's form.
func UpdateKindTitle(k app.OperationKind) string {
	switch k {
	case app.OperationResize:
		return "Resize"
	case app.OperationReconfigure:
		return "Change configuration"
	}
	verb := k.Verb()
	return string(verb[0]-'a'+'A') + verb[1:]
}

// help describes the kind.
func (f UpdateForm) help() string {
	switch f.Kind {
	case app.OperationResize:
		if f.KeptMachine != "" {
			return "The cluster grows by one node, which this machine becomes. It leaves inspection, and its services are installed again."
		}
		return "Nodes are drained before they're removed."
	case app.OperationAddServices:
		return "Services are added to existing nodes, or to new ones if the layout requires it."
	case app.OperationRemoveServices:
		return "The selected services are stopped and removed. Services that depend on them must be removed too."
	case app.OperationReconfigure:
		return "Only services that use the changed values are affected."
	case app.OperationCompare:
		return "Runs the configuration tools in dry-run mode and changes nothing. The Health page shows the result until the next operation."
	case app.OperationRun:
		if f.Action != nil {
			return f.Action.Description
		}
		return "The command and its output are kept, and everyone who sees the cluster can read the output: don't put secrets in it."
	case app.OperationStart:
		return "Services that they depend on are started too."
	case app.OperationStop:
		return "Services that depend on them are stopped too. Machines keep running and still cost money."
	case app.OperationRestart:
		return "Services that depend on them are restarted too."
	case app.OperationUpgrade:
		return "Upgrades the cluster to the current catalog, a few nodes at a time, and stops at the first unhealthy node."
	case app.OperationRepair:
		return "Repair finishes pending steps and replaces failed nodes. Replaced nodes keep their names, host keys and services."
	}
	return ""
}

// posts reports whether the form is sent in a body, since its values don't belong in an address.
func (f UpdateForm) posts() bool {
	return f.Kind == app.OperationReconfigure || f.Kind == app.OperationRun
}

// batches reports whether the kind works on a number of nodes at a time.
func (f UpdateForm) batches() bool {
	return f.Kind == app.OperationUpgrade || f.Kind == app.OperationRestart || f.Kind == app.OperationReconfigure || f.Kind == app.OperationRun
}

func (a Update) path(rest string) string { return "/clusters/" + a.View.ID + "/change" + rest }

// UpdatePreview is a change's preview, ready to draw.
type UpdatePreview struct {
	cluster.UpdatePreview
	Ask      cluster.Update
	Drawn    []UpdateNode // the affected nodes
	Rest     int          // the number of other nodes
	Hidden   int          // the number of affected nodes that aren't drawn
	Timeline plan.Timeline
	left     time.Duration // until the lease expires; 0: no expiry
	lost     []string      // nodes without a machine
}

// UpdateNode is a node with its change.
type UpdateNode struct {
	cluster.UpdatedNode
	Hardware, Image string // display names
	Parts           []UpdatePart
}

// UpdatePart is a service of a node. Mark is "added", "removed", "worked" or ""; Word names the action.
type UpdatePart struct {
	page.Hue
	Mark, Word string
}

// updateNodes is how many nodes are drawn.
const updateNodes = 96

// newUpdatePreview prepares a change's preview for drawing.
func newUpdatePreview(p cluster.UpdatePreview, ask cluster.Update, v cluster.View, now time.Time, title func(kind, name string) string) *UpdatePreview {
	out := &UpdatePreview{UpdatePreview: p, Ask: ask, Timeline: plan.NewTimeline(p.Plan)}
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
		if len(out.Drawn) == updateNodes {
			out.Hidden++
			continue
		}
		d := UpdateNode{UpdatedNode: n, Hardware: title("hardware", n.Hardware), Image: title("image", n.Image)}
		for _, s := range n.Services {
			part := UpdatePart{Hue: colour(s)}
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
			d.Parts = append(d.Parts, UpdatePart{colour(s), "removed", "removed"})
		}
		out.Drawn = append(out.Drawn, d)
	}
	return out
}

// Sign marks the node: + for new, − for removed, ± for replaced, ~ for changed.
func (n UpdateNode) Sign() string {
	switch n.Change {
	case appplan.NodeNew:
		return "+"
	case appplan.NodeGone:
		return "−"
	case appplan.NodeReplaced:
		return "±"
	}
	if n.Runs {
		return "›"
	}
	return "~"
}

// Word names the node's change.
func (n UpdateNode) Word() string {
	switch n.Change {
	case appplan.NodeNew:
		return "new"
	case appplan.NodeGone:
		return "removed"
	case appplan.NodeReplaced:
		return "replaced"
	}
	if n.Runs {
		return "runs it"
	}
	return "changed"
}

// Class is the node's CSS class.
func (n UpdateNode) Class() string {
	if n.Change == "" {
		return "an-touched"
	}
	return "an-" + string(n.Change)
}

// takes reports whether the change removes or stops something that doesn't come back automatically.
func (p UpdatePreview) takes() bool {
	return p.Kind == app.OperationRemoveServices || p.Kind == app.OperationStop ||
		slices.ContainsFunc(p.Nodes, func(n cluster.UpdatedNode) bool {
			return n.Change == appplan.NodeGone || n.Change == appplan.NodeReplaced && !slices.Contains(p.lost, n.Name)
		})
}

func (p UpdatePreview) refused() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse
}
func (p UpdatePreview) waits() bool {
	return p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove
}

// button is the label of the button that applies the change.
func (p UpdatePreview) button() string {
	if p.waits() {
		return "Request approval"
	}
	if p.Window != nil && p.Window.Waits {
		return "Schedule changes"
	}
	switch p.Kind {
	case app.OperationRepair:
		return "Repair cluster"
	case app.OperationRun:
		if p.Ask.Action != "" {
			return "Run action"
		}
		return "Run command"
	}
	return "Apply changes"
}

// more is what the change costs until the lease expires, with its sign; "" if unknown.
func (p UpdatePreview) more() string {
	d := (p.After.CostPerHour - p.Before.CostPerHour) * p.left.Hours()
	switch {
	case p.left == 0 || p.After.CostPerHour == p.Before.CostPerHour:
		return ""
	case d < 0:
		return humanize.Money(d, p.After.Currency)
	}
	return "+" + humanize.Money(d, p.After.Currency)
}

// field is a hidden field of a form.
type field struct{ Name, Value string }

// fields are the hidden fields of the form that applies the change.
func (p UpdatePreview) fields() []field {
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
	add("kept_machine", m.KeptMachine)
	add("image", m.Image)
	add("batch", strconv.Itoa(m.Batch))
	add("command", m.Command)
	add("action", m.Action)
	add("timeout", m.Timeout)
	add("on_failure", string(m.OnFailure))
	add("min_available", string(m.MinAvailable))
	add("keep_failed", string(m.KeepFailed))
	add("volumes", string(m.Volumes))
	if m.NoRestart {
		add("no_restart", "yes")
	}
	if len(m.Config)+len(m.Parameters) > 0 {
		if m.Config == nil {
			m.Config = map[string]any{}
		}
		b, err := json.Marshal(m.Config)
		if err != nil {
			panic("page: a configuration that was read from JSON can be written as JSON: " + err.Error())
		}
		add("overlay", string(b))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		out = append(out, field{template.ParameterField{Parameter: apptemplate.Parameter{Name: name}}.Field(), apptemplate.ParameterValueText(m.Parameters[name])})
	}
	return out
}

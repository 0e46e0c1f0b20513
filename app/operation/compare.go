package operation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
)

// ServiceChanges are what a service's own tool would change on a node, as it was found last. With no texts: nothing.
type ServiceChanges struct {
	Node    string
	Service string
	Changes family.Changes
	At      time.Time
}

// comparedActions are those that a comparison asks a service's tool about, the first that the service has and the tool can tell of.
var comparedActions = []app.Action{app.ActionConfigure, app.ActionInstall, app.ActionStart}

// Compared returns the action of a service of which its tool can say what it would change, as dryRuns tells of automators, which may be nil; "" where
// there is none.
func Compared(dryRuns func(automator string) bool, s *template.Service) app.Action {
	if s == nil || dryRuns == nil {
		return ""
	}
	for _, action := range comparedActions {
		if call := s.Actions[action]; call != nil && call.Person == nil && dryRuns(call.Automator) {
			return action
		}
	}
	return ""
}

// compare has the tools of services say what they would change on nodes. It is felt by no one.
func compare(_ context.Context, a *Builder, d *updateBuilder) error {
	if err := d.checkServices(d.ask.Services); err != nil {
		return err
	}
	if err := d.checkNodes(d.ask.Nodes); err != nil {
		return err
	}
	var mute []string
	able := false
	for _, s := range d.asked() {
		if Compared(a.DryRuns, d.was.Services[s]) == "" {
			mute = append(mute, s)
			continue
		}
		able = true
		for i := range d.nodes {
			n := &d.nodes[i]
			if n.Stays() && slices.Contains(n.Services, s) && (len(d.named) == 0 || d.named[n.Name]) {
				n.AllWork(s, plan.WorkCompare)
			}
		}
	}
	if !able {
		return &app.Error{Code: app.EConflict, Reason: "not_comparable", Message: fmt.Sprintf("Cluster %q can't be compared: %s can't be dry-run.", d.Name, humanize.And(mute)),
			Hint: "Only Puppet, Ansible, Chef and Docker services support a dry run."}
	}
	if len(mute) > 0 {
		d.note("Skips %s: no dry run supported.", humanize.And(mute))
	}
	return nil
}

// services tells what tools said that they would change.
func (d *Drift) services(list []ServiceChanges) {
	for _, c := range list {
		of := fmt.Sprintf("%s on %s", c.Service, c.Node)
		hint := "Found " + c.At.UTC().Format(time.DateTime) + " UTC. Reconfigure the service or upgrade the cluster to apply it again."
		for _, text := range c.Changes.Texts {
			d.add(DriftItem{From: DriftService, Node: c.Node, Text: of + " would change: " + text, Hint: hint})
		}
		if c.Changes.More > 0 {
			d.add(DriftItem{From: DriftService, Node: c.Node, Text: fmt.Sprintf("%s would make %s.", of, humanize.Count(c.Changes.More, "more change")), Hint: hint})
		}
	}
}

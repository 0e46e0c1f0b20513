package operation

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/portal/page"
)

// AcceptPartial is the confirmation page for accepting a partial result.
type AcceptPartial struct {
	Now     time.Time
	View    cluster.View
	Preview operation.AcceptPartialPreview
	Notice  string
}

// lostShown is how many missing machines are named with the reason.
const lostShown = 8

// Lost are the first of the missing machines.
func (g AcceptPartial) Lost() []operation.LostMachine {
	return g.Preview.Deletes[:min(len(g.Preview.Deletes), lostShown)]
}

// MoreLost counts those that aren't named.
func (g AcceptPartial) MoreLost() int { return max(0, len(g.Preview.Deletes)-lostShown) }

// Steps are the first steps of the plan, in words.
func (g AcceptPartial) Steps() []string {
	var out []string
	for _, s := range g.Preview.Plan.Steps {
		if !s.Join && len(out) < stepsShown && (s.Action != app.ActionDelete || !slices.Contains(g.Preview.Plan.Keeps, s.Node)) {
			out = append(out, page.StepWords(s.Node, s.Action, s.Service))
		}
	}
	return out
}

// More counts the steps that aren't listed.
func (g AcceptPartial) More() int { return max(0, g.Preview.Plan.Acts()-stepsShown) }

// CostWords states the cost before and after.
func (g AcceptPartial) CostWords() string {
	p := g.Preview
	if p.Before.CostPerHour == p.After.CostPerHour {
		return humanize.Price(p.After.CostPerHour, p.After.Currency)
	}
	return humanize.Price(p.Before.CostPerHour, p.Before.Currency) + " → " + humanize.Price(p.After.CostPerHour, p.After.Currency)
}

// missing says how many machines are missing.
func missing(g AcceptPartial) string {
	return fmt.Sprintf("%s not created", humanize.CountOf(len(g.Preview.Deletes)+len(g.Preview.Kept.Machines), "machine was", "machines were"))
}

package page

import (
	"fmt"
	"time"

	"muster/app"
)

// ClusterGoOn is what it would be to go on with the machines that came.
type ClusterGoOn struct {
	Now     time.Time
	View    app.ClusterView
	Preview app.GoOnPreview
	Notice  string
}

// lostShown is how many machines that did not come are named with why.
const lostShown = 8

// Lost are the first of the machines that did not come.
func (g ClusterGoOn) Lost() []app.LostMachine {
	return g.Preview.GivesBack[:min(len(g.Preview.GivesBack), lostShown)]
}

// MoreLost counts those that are not named.
func (g ClusterGoOn) MoreLost() int { return max(0, len(g.Preview.GivesBack)-lostShown) }

// Steps are the first steps of the plan, in words.
func (g ClusterGoOn) Steps() []string {
	var out []string
	for _, s := range g.Preview.Plan.Steps {
		if !s.Join && len(out) < stepsShown {
			out = append(out, StepWords(s.Node, s.Action, s.Service))
		}
	}
	return out
}

// More counts the steps that are not listed.
func (g ClusterGoOn) More() int { return max(0, g.Preview.Plan.Acts()-stepsShown) }

// CostWords say what it costs then.
func (g ClusterGoOn) CostWords() string {
	p := g.Preview
	if p.Before.CostPerHour == p.After.CostPerHour {
		return Cost(p.After.CostPerHour)
	}
	return Cost(p.Before.CostPerHour) + " → " + Cost(p.After.CostPerHour)
}

// missing words how many nodes are missing.
func missing(g ClusterGoOn) string {
	return fmt.Sprintf("%s not created", CountOf(len(g.Preview.GivesBack), "machine was", "machines were"))
}

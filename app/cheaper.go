package app

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// What another layout must cost less for a preview to speak of it: so much per hour, and so large a part. The solve takes this long at most.
const (
	cheaperBy    = 0.01
	cheaperPart  = 0.05
	cheaperLimit = time.Second
)

// CheaperLayout is what the cheapest layout of a request costs, where that is a real amount less.
type CheaperLayout struct {
	Prefer      Preference `json:"prefer" doc:"What to ask for to get it."`
	CostPerHour float64    `json:"cost_per_hour"`
	Instead     float64    `json:"instead" doc:"What the layout of the preview costs per hour."`
}

// Words say it to people.
func (c *CheaperLayout) Words() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("Choose %s to pay %s instead of %s per hour.", c.Prefer, Cost(c.CostPerHour), Cost(c.Instead))
}

// cheaper solves a request once more for the least cost; nil where that is no real amount less, and where it cannot be told in a moment.
func (a *App) cheaper(ctx context.Context, tenant string, d draft, l Layout) *CheaperLayout {
	if d.asked.Prefer == PreferCheapest || d.asked.Prefer == "" && d.template.Defaults.Prefer == PreferCheapest || l.CostPerHour < cheaperBy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cheaperLimit)
	defer cancel()
	leave, err := a.solving.enter(ctx, tenant)
	if err != nil {
		return nil
	}
	defer leave()
	c, err := a.catalogSoon(ctx, tenant)
	if err != nil {
		return nil
	}
	asked := d.asked
	asked.Prefer, asked.Provider = PreferCheapest, l.Provider
	best, err := a.Solver.Solve(ctx, c, asked)
	if err != nil || slices.ContainsFunc(best.Groups, func(g NodeGroup) bool { return g.CostPerHour == 0 }) { // a price that is not known counts as 0
		return nil
	}
	if less := l.CostPerHour - best.CostPerHour; less < cheaperBy || less < cheaperPart*l.CostPerHour {
		return nil
	}
	return &CheaperLayout{Prefer: PreferCheapest, CostPerHour: best.CostPerHour, Instead: l.CostPerHour}
}

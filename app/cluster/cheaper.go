package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
)

// CheaperLayout is what the cheapest layout of a request costs, where that is a real amount less.
type CheaperLayout struct {
	Prefer      template.Preference `json:"prefer"`
	CostPerHour float64             `json:"cost_per_hour"`
	CurrentCost float64             `json:"current_cost_per_hour"`
	Currency    string              `json:"currency"` // by ISO 4217
}

// Text say it to people.
func (c *CheaperLayout) Text() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("Choose %s to pay %s instead of %s.", c.Prefer, humanize.PerHour(c.CostPerHour, c.Currency), humanize.PerHour(c.CurrentCost, c.Currency))
}

// What another layout must cost less for a preview to speak of it: so much per hour, and so large a part. The solve takes this long at most.
const (
	cheaperBy    = 0.01
	cheaperPart  = 0.05
	cheaperLimit = time.Second
)

// cheaper solves a request once more for the least cost; nil where that is no real amount less, and where that takes too long to find out.
func (a *Creates) cheaper(ctx context.Context, tenant string, d Draft, l layout.Layout) *CheaperLayout {
	if d.Asked.Prefer == template.PreferCheapest || d.Asked.Prefer == "" && d.Template.Defaults.Prefer == template.PreferCheapest || l.CostPerHour < cheaperBy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cheaperLimit)
	defer cancel()
	leave, err := a.Solving.Enter(ctx, tenant)
	if err != nil {
		return nil
	}
	defer leave()
	c, err := a.Catalogs.CachedCatalogOf(ctx, tenant)
	if err != nil {
		return nil
	}
	asked := d.Asked
	asked.Prefer, asked.Provider = template.PreferCheapest, l.Provider
	best, err := a.Solver.Solve(ctx, c, asked)
	if err != nil || slices.ContainsFunc(best.Groups, func(g layout.NodeGroup) bool { return g.CostPerHour == 0 }) { // a price that is not known counts as 0
		return nil
	}
	if less := l.CostPerHour - best.CostPerHour; less < cheaperBy || less < cheaperPart*l.CostPerHour {
		return nil
	}
	return &CheaperLayout{Prefer: template.PreferCheapest, CostPerHour: best.CostPerHour, CurrentCost: l.CostPerHour, Currency: l.Currency}
}

package cluster

import (
	"context"
	"slices"
	"time"

	"muster/app"
)

// What another layout must cost less for a preview to speak of it: so much per hour, and so large a part. The solve takes this long at most.
const (
	cheaperBy    = 0.01
	cheaperPart  = 0.05
	cheaperLimit = time.Second
)

// cheaper solves a request once more for the least cost; nil where that is no real amount less, and where it cannot be told in a moment.
func (a *Service) cheaper(ctx context.Context, tenant string, d Draft, l app.Layout) *app.CheaperLayout {
	if d.Asked.Prefer == app.PreferCheapest || d.Asked.Prefer == "" && d.Template.Defaults.Prefer == app.PreferCheapest || l.CostPerHour < cheaperBy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cheaperLimit)
	defer cancel()
	leave, err := a.Solving.Enter(ctx, tenant)
	if err != nil {
		return nil
	}
	defer leave()
	c, err := a.Catalogs.CatalogSoon(ctx, tenant)
	if err != nil {
		return nil
	}
	asked := d.Asked
	asked.Prefer, asked.Provider = app.PreferCheapest, l.Provider
	best, err := a.Solver.Solve(ctx, c, asked)
	if err != nil || slices.ContainsFunc(best.Groups, func(g app.NodeGroup) bool { return g.CostPerHour == 0 }) { // a price that is not known counts as 0
		return nil
	}
	if less := l.CostPerHour - best.CostPerHour; less < cheaperBy || less < cheaperPart*l.CostPerHour {
		return nil
	}
	return &app.CheaperLayout{Prefer: app.PreferCheapest, CostPerHour: best.CostPerHour, Instead: l.CostPerHour}
}

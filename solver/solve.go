package solver

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
)

// Solver finds layouts. It keeps nothing between questions, so one value serves everyone at once.
type Solver struct{}

var _ app.Solver = (*Solver)(nil)

// New makes a solver.
func New() *Solver { return &Solver{} }

// Solve gives the preferred layout for the request, see the package comment. A request that cannot be asked is EInvalid
// or ENotFound, one that no layout answers is ENoLayout (the Reason says more, see app.Solver), and a context
// that ends first, for whatever cause, is ETimeout.
func (*Solver) Solve(ctx context.Context, catalog *app.Catalog, r app.LayoutRequest) (app.Layout, error) {
	p, err := narrow(catalog, r)
	if err != nil {
		return app.Layout{}, err
	}
	w := &watch{ctx: ctx, ended: ctx.Err() != nil}
	c := newCounter(p, w)
	if o, found := c.obstacle(); found && !w.ended {
		return app.Layout{}, p.refusal(o)
	}
	layout := app.Layout{Provider: p.provider}
	for c.n > 0 && !w.ended {
		k, found := c.next()
		if !found {
			break
		}
		count := c.most(k)
		if w.ended {
			break
		}
		layout.Groups = append(layout.Groups, p.group(k, count))
		c.use(k, count)
	}
	if w.ended {
		return app.Layout{}, outOfTime(p, ctx.Err())
	}
	if c.n > 0 {
		return app.Layout{}, app.Errorf(app.EInternal, "solver: %d nodes left without a kind", c.n)
	}
	for _, g := range layout.Groups {
		layout.CostPerHour += g.CostPerHour
	}
	return layout, nil
}

func outOfTime(p *problem, cause error) *app.Error {
	return &app.Error{Code: app.ETimeout, Err: cause, Message: fmt.Sprintf("no answer was found in time for %s on %s",
		amount(len(p.services), "service"), amount(p.size, "node"))}
}

// group states count nodes of a kind in the words of the catalog.
func (p *problem) group(k kind, count int) app.NodeGroup {
	services := slices.Clone(p.everywhere)
	for b := k.blocks.next(0); b >= 0; b = k.blocks.next(b + 1) {
		services = append(services, p.blocks[b].services...)
	}
	slices.Sort(services)
	hardware := p.hardware[k.hardware]
	return app.NodeGroup{
		Count:       count,
		Hardware:    hardware,
		Image:       p.images[k.image],
		Services:    services,
		CostPerHour: float64(count) * p.catalog.Hardware[hardware].Providers[p.provider].CostPerHour,
	}
}

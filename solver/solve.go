package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"muster/app"
	"muster/app/humanize"
	applayout "muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// Solver finds layouts. It keeps nothing between questions, so one value serves everyone at once.
type Solver struct{}

var _ applayout.Solver = (*Solver)(nil)

// New makes a solver.
func New() *Solver { return &Solver{} }

// Solve returns the preferred layout for the request, see the package comment. A request that cannot be asked is EInvalid
// or ENotFound, one that no layout answers is ENoLayout (the Reason says more, see app.Solver), and a context
// that ends first, for whatever cause, is ETimeout.
func (*Solver) Solve(ctx context.Context, catalog *template.Catalog, r applayout.Request) (applayout.Layout, error) {
	p, err := narrow(catalog, r)
	if err != nil {
		return applayout.Layout{}, request.Advised(catalog, r, err)
	}
	w := &watch{ctx: ctx, ended: ctx.Err() != nil}
	c := newCounter(p, w)
	if o, found := c.obstacle(); found && !w.ended {
		return applayout.Layout{}, p.refusal(o)
	}
	layout, late, err := p.find(c, w)
	if err != nil {
		return applayout.Layout{}, err
	}
	for i, g := range layout.Groups {
		layout.CostPerHour += g.CostPerHour
		layout.Groups[i].CostPerHour = RoundCost(g.CostPerHour)
	}
	layout.CostPerHour = RoundCost(layout.CostPerHour)
	if late && layout.Gap == 0 {
		layout.Notes = []string{"cheapest: no other layout costs less per hour; time ran out before the packed one of these was found"}
	}
	return layout, nil
}

// Validate says why a request cannot be asked at all, as Solve would but without hints; nil where it can be asked.
func Validate(catalog *template.Catalog, r applayout.Request) error {
	_, err := narrow(catalog, r)
	return err
}

// find finds the preferred layout. The counter is tried first where its answer can be the one that is asked for; it knows
// neither ratios nor limits, but if its answer keeps them, it is the answer, since it is the best of more. late tells that
// the time was over before the packed one of several equally good layouts was found.
func (p *problem) find(c *counter, w *watch) (layout applayout.Layout, late bool, err error) {
	layout.Provider = p.provider
	places := p.arranger(w)
	if p.prefer == template.PreferPacked {
		groups, err := c.groups()
		if err != nil {
			return layout, false, err
		}
		if !w.ended && p.keeps(groups) && (places == nil || places.place(&groups)) {
			layout.Groups = groups
			return layout, false, nil
		}
	}
	if w.ended {
		return layout, false, outOfTime(p, w.ctx.Err())
	}
	m := p.mixerFor(w)
	a := m.prefer(m.final(places))
	switch {
	case a != nil && (!a.late || !errors.Is(w.ctx.Err(), context.Canceled)):
		layout.Gap = a.gap
		if places != nil && !places.place(&a.groups) {
			return layout, false, outOfTime(p, w.ctx.Err())
		}
		layout.Groups = a.groups
		return layout, a.late, nil
	case w.ended:
		return layout, false, outOfTime(p, w.ctx.Err())
	case m.unsure:
		return layout, false, app.Errorf(app.EInternal, "solver: numbers became too poor to decide")
	}
	return layout, false, p.refusal(p.rules())
}

// groups makes the packed layout.
func (c *counter) groups() (groups []applayout.NodeGroup, err error) {
	for c.n > 0 && !c.w.ended {
		k, found := c.next()
		if !found {
			break
		}
		count := c.most(k)
		if c.w.ended {
			break
		}
		groups = append(groups, c.p.group(k, count))
		c.use(k, count)
	}
	if c.n > 0 && !c.w.ended {
		return nil, app.Errorf(app.EInternal, "solver: %d nodes left without a kind", c.n)
	}
	return groups, nil
}

// keeps reports whether groups keep the ratios and limits.
func (p *problem) keeps(groups []applayout.NodeGroup) bool {
	if !p.counted() {
		return true
	}
	of := map[string]int{}
	hardware := map[string]int{}
	for _, g := range groups {
		hardware[g.Hardware] += g.Count
		for _, s := range g.Services {
			of[s] += g.Count
		}
	}
	for _, r := range p.ratios {
		if of[p.blocks[r.service].services[0]] < ceil(of[p.blocks[r.of].services[0]], r.per) {
			return false
		}
	}
	for i, limit := range p.limits {
		if hardware[p.hardware[i]] > limit {
			return false
		}
	}
	return true
}

func outOfTime(p *problem, cause error) *app.Error {
	return &app.Error{Code: app.ETimeout, Err: cause, Message: fmt.Sprintf("no answer was found in time for %s on %s",
		humanize.Count(len(p.services), "service"), humanize.Count(p.size, "node"))}
}

// group states count nodes of a kind in the words of the catalog.
func (p *problem) group(k kind, count int) applayout.NodeGroup {
	services := slices.Clone(p.everywhere)
	for b := k.blocks.Next(0); b >= 0; b = k.blocks.Next(b + 1) {
		services = append(services, p.blocks[b].services...)
	}
	slices.Sort(services)
	hardware := p.hardware[k.hardware]
	return applayout.NodeGroup{
		Count:       count,
		Hardware:    hardware,
		Image:       p.images[k.image],
		Services:    services,
		CostPerHour: float64(count) * p.price(k.hardware),
	}
}

// RoundCost takes off what adding up in binary leaves far behind the point, so that 0.1 three times is 0.3.
func RoundCost(x float64) float64 { return math.Round(x*1e6) / 1e6 }

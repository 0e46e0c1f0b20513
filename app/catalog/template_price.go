package catalog

import (
	"context"
	"maps"
	"sync"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// priceTime is how long prices are worked out for one who asks; what is not known by then is so the next time. A catalog of the
// usual size takes far less.
const priceTime = 30 * time.Millisecond

// TemplatePrices returns what the smallest cluster of each template costs per hour, as the template says where no one says anything
// else. Templates whose smallest cluster has no price, or for which something has to be said first, are left out. Prices are
// those of the catalog, before policies.
func (a *Service) TemplatePrices(ctx context.Context, actor app.Actor) (map[string]float64, error) {
	if err := actor.Authorize("TemplatePrices"); err != nil {
		return nil, err
	}
	c, err := a.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	known := a.prices.of(c, a.Now, func(t *template.Template) float64 { return a.smallestPrice(ctx, c, t) })
	for name := range known {
		if c.Templates[name].State == template.StateDraft && !actor.SeesDrafts() {
			delete(known, name)
		}
	}
	return known, nil
}

// smallestPrice is 0 where there is none.
func (a *Service) smallestPrice(ctx context.Context, c *template.Catalog, t *template.Template) float64 {
	set, err := t.Resolve(nil)
	if err != nil {
		return 0
	}
	r := layout.Request{Template: t.Name, Provider: set.Provider, Hardware: set.Hardware, Image: set.Image, Size: set.Size}
	if r.Size == 0 {
		r.Size = max(1, t.Constraints.Size.Min)
	}
	if template.CheckSize(r.Size) != nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*priceTime) // one who goes away leaves no gap for the others
	defer cancel()
	l, err := a.Solver.Solve(ctx, c, r)
	if err != nil {
		return 0
	}
	return l.CostPerHour
}

// templatePrices keeps the prices of the catalogs that are asked for: a catalog does not change after it was read.
type templatePrices struct {
	mu    sync.Mutex
	known map[*template.Catalog]map[string]float64 // 0: there is none
}

// mostPriced is how many catalogs' prices are kept.
const mostPriced = 64

// of returns the prices that are known, and works out more of them for a while.
func (p *templatePrices) of(c *template.Catalog, clock func() time.Time, price func(*template.Template) float64) map[string]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.known[c]
	if known == nil {
		if p.known == nil || len(p.known) >= mostPriced {
			p.known = map[*template.Catalog]map[string]float64{}
		}
		known = make(map[string]float64, len(c.Templates))
		p.known[c] = known
	}
	begun := clock()
	for _, t := range c.Offered() {
		if len(known) == len(c.Templates) || clock().Sub(begun) > priceTime {
			break
		}
		if _, is := known[t.Name]; !is {
			known[t.Name] = price(t)
		}
	}
	out := maps.Clone(known)
	maps.DeleteFunc(out, func(_ string, price float64) bool { return price <= 0 })
	return out
}

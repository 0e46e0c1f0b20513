package cluster

import (
	"context"
	"slices"
	"time"

	"muster/app"
)

// What the first steps of a node take whose machine stands ready: to find it, and to change its keys.
const (
	readyCreate  = time.Second
	readyConfirm = 2 * time.Second
)

// PoolOffer asks the tenant's pools; nil where they have nothing of what is needed.
func (a *Service) PoolOffer(ctx context.Context, tenant string, wants []app.PoolWant, plan app.Plan) (*app.PoolOffer, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	stock, err := a.Store.PoolStock(ctx, tenant, shapesOf(wants), a.Now())
	if err != nil || len(stock) == 0 {
		return nil, err
	}
	o := &app.PoolOffer{Of: len(wants), Instead: plan.Duration()}
	ready := map[string]bool{}
	for i, j := range app.MatchPool(wants, stock) {
		if j < 0 {
			continue
		}
		o.Machines++
		ready[wants[i].Node] = true
		if !slices.Contains(o.Pools, stock[j].Pool) {
			o.Pools = append(o.Pools, stock[j].Pool)
		}
	}
	if o.Machines == 0 {
		return nil, nil
	}
	slices.Sort(o.Pools)
	o.Duration = plan.DurationWith(func(s app.PlanStep, d time.Duration) time.Duration {
		switch {
		case !ready[s.Node]:
		case s.Action == app.ActionCreate:
			return min(d, readyCreate)
		case s.Action == app.ActionConfirm:
			return min(d, readyConfirm)
		}
		return d
	})
	return o, nil
}

func shapesOf(wants []app.PoolWant) (shapes []string) {
	for _, w := range wants {
		if !slices.Contains(shapes, w.Shape) {
			shapes = append(shapes, w.Shape)
		}
	}
	return shapes
}

// createOffer is the offer for a new cluster.
func (a *Service) createOffer(ctx context.Context, tenant string, d Draft, p app.Preview) (*app.PoolOffer, error) {
	var nodes []app.NewNode
	for _, g := range p.Layout.Groups {
		for range g.Count {
			nodes = append(nodes, app.NewNode{Node: app.Node{Name: app.NodeName(len(nodes) + 1), Hardware: g.Hardware, Image: g.Image, Zone: g.Zone}})
		}
	}
	return a.PoolOffer(ctx, tenant, app.PoolWants(p.Layout.Provider, nodes, d.Definition), p.Plan)
}

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
	appplan "muster/app/plan"
	"muster/app/volume"
)

// PoolMatch tells how many of the machines that are needed stand ready in pools at this moment. Whether they still do when it is accepted is not promised:
// what is not there is made as ever.
type PoolMatch struct {
	Machines int           `json:"machines"` // that come ready
	Total    int           `json:"total"`    // new machines in all
	Pools    []string      `json:"pools"`
	Duration time.Duration `json:"duration"`     // estimate with them, on unlimited workers
	Without  time.Duration `json:"without_pool"` // without
}

// Text say it to people.
func (o PoolMatch) Text() string {
	from := "pool " + humanize.And(o.Pools)
	if len(o.Pools) > 1 {
		from = "pools " + humanize.And(o.Pools)
	}
	text := fmt.Sprintf("%d of %s ready in %s", o.Machines, humanize.Count(o.Total, "machine"), from)
	if o.Duration >= o.Without {
		return text + "."
	}
	return fmt.Sprintf("%s: %s instead of %s.", text, humanize.About(humanize.Duration(o.Duration)), humanize.Duration(o.Without))
}

// What the first steps of a node take whose machine is ready: to find it, and to change its keys.
const (
	readyCreate  = time.Second
	readyConfirm = 2 * time.Second
)

// PoolMatch asks the tenant's pools; nil where they have nothing of what is needed.
func (a *Plans) PoolMatch(ctx context.Context, tenant string, wants []PoolWant, plan appplan.Plan) (*PoolMatch, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	stock, err := a.Store.PoolStock(ctx, tenant, shapesOf(wants), a.Now())
	if err != nil || len(stock) == 0 {
		return nil, err
	}
	o := &PoolMatch{Total: len(wants), Without: plan.Duration()}
	ready := map[string]bool{}
	for i, j := range MatchPool(wants, stock) {
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
	o.Duration = plan.DurationWith(func(s appplan.Step, d time.Duration) time.Duration {
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

func shapesOf(wants []PoolWant) (shapes []string) {
	for _, w := range wants {
		if !slices.Contains(shapes, w.Shape) {
			shapes = append(shapes, w.Shape)
		}
	}
	return shapes
}

// matchForCreate is the offer for a new cluster.
func (a *Creates) matchForCreate(ctx context.Context, tenant string, d Draft, p Preview) (*PoolMatch, error) {
	var nodes []app.NewNode
	for _, g := range p.Layout.Groups {
		for range g.Count {
			name := app.NodeName(len(nodes) + 1)
			nodes = append(nodes, app.NewNode{Node: app.Node{Name: name, Hardware: g.Hardware, Image: g.Image, Zone: g.Zone},
				NoPool: volume.MadeFirst(p.Volumes, name)})
		}
	}
	return a.Plans.PoolMatch(ctx, tenant, PoolWants(p.Layout.Provider, nodes, d.Definition), p.Plan)
}

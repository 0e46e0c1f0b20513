package app

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// PoolOffer tells how many of the machines that are needed stand ready in pools at this moment. Whether they still do when it is accepted is not promised:
// what is not there is made as ever.
type PoolOffer struct {
	Machines int           `json:"machines"` // that come ready
	Of       int           `json:"of"`       // new machines in all
	Pools    []string      `json:"pools"`
	Duration time.Duration `json:"duration"` // estimate with them, on unlimited workers
	Instead  time.Duration `json:"instead"`  // without
}

// What the first steps of a node take whose machine stands ready: to find it, and to change its keys.
const (
	readyCreate  = time.Second
	readyConfirm = 2 * time.Second
)

// Words say it to people.
func (o PoolOffer) Words() string {
	from := "the pool " + andList(o.Pools)
	if len(o.Pools) > 1 {
		from = "the pools " + andList(o.Pools)
	}
	machines, come := "machines", "come"
	if o.Of == 1 {
		machines = "machine"
	}
	if o.Machines == 1 {
		come = "comes"
	}
	text := fmt.Sprintf("%d of %d %s %s ready from %s", o.Machines, o.Of, machines, come, from)
	if o.Duration >= o.Instead {
		return text + "."
	}
	return fmt.Sprintf("%s: about %s instead of %s.", text, Span(o.Duration), Span(o.Instead))
}

// poolOffer asks the tenant's pools; nil where they have nothing of what is needed.
func (a *App) poolOffer(ctx context.Context, tenant string, wants []PoolWant, plan Plan) (*PoolOffer, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	stock, err := a.Store.PoolStock(ctx, tenant, shapesOf(wants), a.Now())
	if err != nil || len(stock) == 0 {
		return nil, err
	}
	o := &PoolOffer{Of: len(wants), Instead: plan.Duration()}
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
	o.Duration = plan.durationWith(func(s PlanStep, d time.Duration) time.Duration {
		switch {
		case !ready[s.Node]:
		case s.Action == ActionCreate:
			return min(d, readyCreate)
		case s.Action == ActionConfirm:
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

// durationWith is Duration where steps take another time than was planned with. A step's own time is what its rank is more than that of what waits for it.
func (p Plan) durationWith(take func(s PlanStep, planned time.Duration) time.Duration) (longest time.Duration) {
	behind, rest := make([]time.Duration, len(p.Steps)), make([]time.Duration, len(p.Steps))
	for i, s := range slices.Backward(p.Steps) {
		end := rest[i] + take(s, s.Rank-behind[i])
		longest = max(longest, end)
		for _, n := range s.Needs {
			behind[n], rest[n] = max(behind[n], s.Rank), max(rest[n], end)
		}
	}
	return longest
}

// createOffer is the offer for a new cluster.
func (a *App) createOffer(ctx context.Context, tenant string, d draft, p Preview) (*PoolOffer, error) {
	var nodes []NewNode
	for _, g := range p.Layout.Groups {
		for range g.Count {
			nodes = append(nodes, NewNode{Node: Node{Name: NodeName(len(nodes) + 1), Hardware: g.Hardware, Image: g.Image, Zone: g.Zone}})
		}
	}
	return a.poolOffer(ctx, tenant, PoolWants(p.Layout.Provider, nodes, d.definition), p.Plan)
}

// assignFromPool tells the worker that a node's machine was a pool's, and by which key it was opened there.
func (a *App) assignFromPool(ctx context.Context, as *Assignment) error {
	if as.Node.TakenFrom == "" || as.Action != ActionCreate && as.Action != ActionConfirm {
		return nil
	}
	as.FromPool = &FromPool{Pool: as.Node.Pool}
	if as.Action != ActionConfirm {
		return nil
	}
	secrets, err := a.Store.ClusterSecrets(ctx, as.Tenant, as.Node.TakenFrom)
	as.FromPool.Key = secrets.PrivateKey
	return err
}

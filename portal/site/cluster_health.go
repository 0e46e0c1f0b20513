package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
	appoperation "muster/app/operation"
)

// Watching is a power that a Muster may have: to tell how clusters are. A portal without it has no page about health.
type Watching interface {
	// Health tells how a cluster and its nodes are.
	Health(ctx context.Context, a app.Actor, cluster string) (app.ClusterHealth, error)
	// CheckHealth has the next check start at once.
	CheckHealth(ctx context.Context, a app.Actor, cluster string) (app.ClusterHealth, error)
	// Drift tells where a cluster is not what it should be.
	Drift(ctx context.Context, a app.Actor, cluster string) (appoperation.Drift, error)
	ClusterFacts(ctx context.Context, a app.Actor, cluster string) ([]execution.NodeFact, error)
}

// Watching gives the power; nil where there is none.
func (p *Site) Watching() Watching {
	w, _ := p.Muster.(Watching)
	return w
}

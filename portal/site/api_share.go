package site

import (
	"context"

	"muster/app"
	appcluster "muster/app/cluster"
)

// Sharing is a power that a Muster may have: clusters that are private to their owner and those they are shared with.
type Sharing interface {
	ClusterSharing(ctx context.Context, a app.Actor, cluster string) (appcluster.ClusterSharing, error)
	ShareCluster(ctx context.Context, a app.Actor, cluster string, c appcluster.SharingChange) (appcluster.ClusterSharing, error)
	DefaultVisibility(ctx context.Context, a app.Actor) (app.Visibility, error)
	SetDefaultVisibility(ctx context.Context, a app.Actor, v app.Visibility) error
}

// Sharing is the power; nil where there is none.
func (p *Site) Sharing() Sharing {
	s, _ := p.Muster.(Sharing)
	return s
}

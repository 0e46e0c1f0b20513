package portal

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

// sharing is the power; nil where there is none.
func (p *Portal) sharing() Sharing {
	s, _ := p.muster.(Sharing)
	return s
}

type sharingInput struct {
	IDInput
	Body appcluster.SharingChange
}

type clusterDefaults struct {
	Visibility app.Visibility `json:"visibility" enum:"private,tenant" doc:"private: only its owner, those it is shared with, and admins see it; tenant: everyone in the tenant does"`
}

func (p *Portal) apiSharingShow(ctx context.Context, in *IDInput) (*body[appcluster.ClusterSharing], error) {
	return p.shared(ctx)(p.sharing().ClusterSharing(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiSharingChange(ctx context.Context, in *sharingInput) (*body[appcluster.ClusterSharing], error) {
	return p.shared(ctx)(p.sharing().ShareCluster(ctx, caller(ctx), in.ID, in.Body))
}

func (p *Portal) shared(ctx context.Context) func(appcluster.ClusterSharing, error) (*body[appcluster.ClusterSharing], error) {
	return func(s appcluster.ClusterSharing, err error) (*body[appcluster.ClusterSharing], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		s.Shares = orEmpty(s.Shares)
		return &body[appcluster.ClusterSharing]{s}, nil
	}
}

func (p *Portal) apiClusterDefaults(ctx context.Context, _ *struct{}) (*body[clusterDefaults], error) {
	v, err := p.sharing().DefaultVisibility(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[clusterDefaults]{clusterDefaults{v}}, nil
}

func (p *Portal) apiClusterDefaultsSet(ctx context.Context, in *struct{ Body clusterDefaults }) (*body[clusterDefaults], error) {
	if err := p.sharing().SetDefaultVisibility(ctx, caller(ctx), in.Body.Visibility); err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[clusterDefaults]{in.Body}, nil
}

package portal

import (
	"context"

	"muster/app"
)

// Sharing is a power that a Muster may have: clusters that are private to their owner and those they are shared with.
type Sharing interface {
	ClusterSharing(ctx context.Context, a app.Actor, cluster string) (app.ClusterSharing, error)
	ShareCluster(ctx context.Context, a app.Actor, cluster string, c app.SharingChange) (app.ClusterSharing, error)
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
	Body app.SharingChange
}

type clusterDefaults struct {
	Visibility app.Visibility `json:"visibility" enum:"private,tenant" doc:"private: only its owner, those it is shared with, and admins see it; tenant: everyone in the tenant does"`
}

func (p *Portal) apiSharingShow(ctx context.Context, in *IDInput) (*body[app.ClusterSharing], error) {
	return p.shared(ctx)(p.sharing().ClusterSharing(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiSharingChange(ctx context.Context, in *sharingInput) (*body[app.ClusterSharing], error) {
	return p.shared(ctx)(p.sharing().ShareCluster(ctx, caller(ctx), in.ID, in.Body))
}

func (p *Portal) shared(ctx context.Context) func(app.ClusterSharing, error) (*body[app.ClusterSharing], error) {
	return func(s app.ClusterSharing, err error) (*body[app.ClusterSharing], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		s.Shares = orEmpty(s.Shares)
		return &body[app.ClusterSharing]{s}, nil
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

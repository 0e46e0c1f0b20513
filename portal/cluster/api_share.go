package cluster

import (
	"context"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/portal/site"
)

type sharingInput struct {
	site.IDInput
	Body appcluster.SharingChange
}

type clusterDefaults struct {
	Visibility app.Visibility `json:"visibility" enum:"private,tenant" doc:"private: visible to the owner, admins and people it's shared with; tenant: visible to everyone in the tenant"`
}

func (p *sharing) APIShow(ctx context.Context, in *site.IDInput) (*site.Body[appcluster.ClusterSharing], error) {
	return p.answer(ctx)(p.Sharing.ClusterSharing(ctx, site.Caller(ctx), in.ID))
}

func (p *sharing) APIChange(ctx context.Context, in *sharingInput) (*site.Body[appcluster.ClusterSharing], error) {
	return p.answer(ctx)(p.Sharing.ShareCluster(ctx, site.Caller(ctx), in.ID, in.Body))
}

func (p *sharing) answer(ctx context.Context) func(appcluster.ClusterSharing, error) (*site.Body[appcluster.ClusterSharing], error) {
	return func(s appcluster.ClusterSharing, err error) (*site.Body[appcluster.ClusterSharing], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		s.Shares = site.OrEmpty(s.Shares)
		return &site.Body[appcluster.ClusterSharing]{Body: s}, nil
	}
}

func (p *sharing) APIDefaults(ctx context.Context, _ *struct{}) (*site.Body[clusterDefaults], error) {
	v, err := p.Sharing.DefaultVisibility(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[clusterDefaults]{Body: clusterDefaults{v}}, nil
}

func (p *sharing) APISetDefaults(ctx context.Context, in *struct{ Body clusterDefaults }) (*site.Body[clusterDefaults], error) {
	if err := p.Sharing.SetDefaultVisibility(ctx, site.Caller(ctx), in.Body.Visibility); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[clusterDefaults]{Body: in.Body}, nil
}

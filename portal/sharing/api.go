package sharing

import (
	"context"

	"muster/app"
	"muster/app/sharing"
	"muster/portal/site"
)

type changeInput struct {
	site.IDInput
	Body sharing.SharingChange
}

type clusterDefaults struct {
	Visibility app.Visibility `json:"visibility" enum:"private,tenant" doc:"private: visible to the owner, admins and people it's shared with; tenant: visible to everyone in the tenant"`
}

func (p *Service) apiShow(ctx context.Context, in *site.IDInput) (*site.Body[sharing.ClusterSharing], error) {
	return p.answer(ctx)(p.Sharing.ClusterSharing(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) apiChange(ctx context.Context, in *changeInput) (*site.Body[sharing.ClusterSharing], error) {
	return p.answer(ctx)(p.Sharing.ShareCluster(ctx, site.Caller(ctx), in.ID, in.Body))
}

func (p *Service) answer(ctx context.Context) func(sharing.ClusterSharing, error) (*site.Body[sharing.ClusterSharing], error) {
	return func(s sharing.ClusterSharing, err error) (*site.Body[sharing.ClusterSharing], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		s.Shares = site.OrEmpty(s.Shares)
		return &site.Body[sharing.ClusterSharing]{Body: s}, nil
	}
}

func (p *Service) apiDefaults(ctx context.Context, _ *struct{}) (*site.Body[clusterDefaults], error) {
	v, err := p.Sharing.DefaultVisibility(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[clusterDefaults]{Body: clusterDefaults{v}}, nil
}

func (p *Service) apiSetDefaults(ctx context.Context, in *struct{ Body clusterDefaults }) (*site.Body[clusterDefaults], error) {
	if err := p.Sharing.SetDefaultVisibility(ctx, site.Caller(ctx), in.Body.Visibility); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[clusterDefaults]{Body: in.Body}, nil
}

package window

import (
	"context"

	"muster/app/window"
	"muster/portal/site"
)

type tenantInput struct {
	Body window.Settings
}

type clusterInput struct {
	site.IDInput
	Body window.Settings
}

func (p *Service) answer(ctx context.Context, v window.View, err error) (*site.Body[window.View], error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Windows = site.OrEmpty(v.Windows)
	return &site.Body[window.View]{Body: v}, nil
}

func (p *Service) apiTenantShow(ctx context.Context, _ *struct{}) (*site.Body[window.View], error) {
	v, err := p.Windows.MaintenanceWindows(ctx, site.Caller(ctx))
	return p.answer(ctx, v, err)
}

func (p *Service) apiTenantSet(ctx context.Context, in *tenantInput) (*site.Body[window.View], error) {
	v, err := p.Windows.SetMaintenanceWindows(ctx, site.Caller(ctx), in.Body)
	return p.answer(ctx, v, err)
}

func (p *Service) apiClusterShow(ctx context.Context, in *site.IDInput) (*site.Body[window.View], error) {
	v, err := p.Windows.ClusterMaintenance(ctx, site.Caller(ctx), in.ID)
	return p.answer(ctx, v, err)
}

func (p *Service) apiClusterSet(ctx context.Context, in *clusterInput) (*site.Body[window.View], error) {
	v, err := p.Windows.SetClusterMaintenance(ctx, site.Caller(ctx), in.ID, &in.Body)
	return p.answer(ctx, v, err)
}

func (p *Service) apiClusterDelete(ctx context.Context, in *site.IDInput) (*site.Body[window.View], error) {
	v, err := p.Windows.SetClusterMaintenance(ctx, site.Caller(ctx), in.ID, nil)
	return p.answer(ctx, v, err)
}

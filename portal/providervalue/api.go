package providervalue

import (
	"context"

	"muster/app/providervalue"
	"muster/portal/site"
)

type setInput struct {
	site.IDInput
	Body providervalue.Change
}

func (p *Service) answer(ctx context.Context, v providervalue.View, err error) (*site.Body[providervalue.View], error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Values = site.OrEmpty(v.Values)
	return &site.Body[providervalue.View]{Body: v}, nil
}

func (p *Service) apiShow(ctx context.Context, in *site.IDInput) (*site.Body[providervalue.View], error) {
	v, err := p.Values.ClusterProviderValues(ctx, site.Caller(ctx), in.ID)
	return p.answer(ctx, v, err)
}

func (p *Service) apiSet(ctx context.Context, in *setInput) (*site.Body[providervalue.View], error) {
	v, err := p.Values.SetClusterProviderValues(ctx, site.Caller(ctx), in.ID, in.Body.Values)
	return p.answer(ctx, v, err)
}

package scaling

import (
	"context"

	"muster/app/scaling"
	"muster/app/template"
	"muster/portal/site"
)

type setInput struct {
	site.IDInput
	Body scaling.Setting
}

func (p *Service) answer(ctx context.Context, v scaling.View, err error) (*site.Body[scaling.View], error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[scaling.View]{Body: v}, nil
}

func (p *Service) apiShow(ctx context.Context, in *site.IDInput) (*site.Body[scaling.View], error) {
	v, err := p.Scaling.ClusterScaling(ctx, site.Caller(ctx), in.ID)
	return p.answer(ctx, v, err)
}

func (p *Service) apiSet(ctx context.Context, in *setInput) (*site.Body[scaling.View], error) {
	if in.Body.Rules == nil && !in.Body.Off {
		in.Body.Rules = &template.ScalingPolicy{} // which is refused: to use the template's rules is to delete the cluster's
	}
	v, err := p.Scaling.SetClusterScaling(ctx, site.Caller(ctx), in.ID, in.Body)
	return p.answer(ctx, v, err)
}

func (p *Service) apiDelete(ctx context.Context, in *site.IDInput) (*site.Body[scaling.View], error) {
	v, err := p.Scaling.SetClusterScaling(ctx, site.Caller(ctx), in.ID, scaling.Setting{})
	return p.answer(ctx, v, err)
}

func (p *Service) apiResume(ctx context.Context, in *site.IDInput) (*site.Body[scaling.View], error) {
	v, err := p.Scaling.ResumeScaling(ctx, site.Caller(ctx), in.ID)
	return p.answer(ctx, v, err)
}

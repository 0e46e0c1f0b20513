package image

import (
	"context"
	"time"

	"muster/app/image"
	"muster/portal/site"
)

type bakeInput struct {
	Body struct {
		Template string `json:"template" maxLength:"200"`
		Size     int    `json:"size,omitempty" doc:"Number of nodes of the layout that the images are for; default: the smallest"`
	}
}

type ImageID struct {
	Image int64 `path:"image" minimum:"1" doc:"ID of the image"`
}

type RuleName struct {
	Template string `path:"template" maxLength:"200" doc:"Name of the template"`
}

type ruleInput struct {
	RuleName
	Body struct {
		AfterCreates int   `json:"after_creates" doc:"How many clusters must be created, 1–1,000"`
		Within       int64 `json:"within" doc:"Time in nanoseconds within which they are counted, 1 h to 90 d"`
		KeepUnused   int64 `json:"keep_unused,omitempty" doc:"Time in nanoseconds after which an unused image is deleted, 1 h to 365 d; default: 30 d"`
	}
}

func (p *Service) apiList(ctx context.Context, _ *struct{}) (*site.Body[image.View], error) {
	v, err := p.Images.Images(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Images, v.Rules = site.OrEmpty(v.Images), site.OrEmpty(v.Rules)
	return &site.Body[image.View]{Body: v}, nil
}

func (p *Service) apiBake(ctx context.Context, in *bakeInput) (*site.Body[image.Built], error) {
	b, err := p.Images.BakeImages(ctx, site.Caller(ctx), in.Body.Template, in.Body.Size)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	b.Images = site.OrEmpty(b.Images)
	return &site.Body[image.Built]{Body: b}, nil
}

func (p *Service) apiDelete(ctx context.Context, in *ImageID) (*struct{}, error) {
	if err := p.Images.DeleteImage(ctx, site.Caller(ctx), in.Image); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiSetRule(ctx context.Context, in *ruleInput) (*site.Body[image.Rule], error) {
	r := image.Rule{Template: in.Template, AfterCreates: in.Body.AfterCreates, Within: time.Duration(in.Body.Within),
		KeepUnused: time.Duration(in.Body.KeepUnused)}
	if r.KeepUnused == 0 {
		r.KeepUnused = image.KeepUnused
	}
	return site.Answered[image.Rule](ctx, p.Site)(p.Images.SetBakeRule(ctx, site.Caller(ctx), r))
}

func (p *Service) apiDeleteRule(ctx context.Context, in *RuleName) (*struct{}, error) {
	if err := p.Images.DeleteBakeRule(ctx, site.Caller(ctx), in.Template); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

package operation

import (
	"context"

	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/app/template"
	"muster/portal/site"
)

type acceptPartialInput struct {
	Input
	Body *struct {
		KeepFailed template.KeepTime `json:"keep_failed,omitempty" maxLength:"20" doc:"How long to keep failed machines for inspection, as previewed"`
		PlanHash   string            `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash of the previewed plan; if the plan has changed, the request fails with a conflict"`
		NoBackfill bool              `json:"no_backfill,omitempty" doc:"Don't backfill the missing nodes"`
	}
}

type backfillInput struct {
	site.IDInput
	Body appoperation.BackfillOrder
}

func (p *Service) apiAcceptPartialShow(ctx context.Context, in *keepInput) (*site.Body[appoperation.AcceptPartialPreview], error) {
	v, err := p.Partials.PreviewAcceptPartial(ctx, site.Caller(ctx), in.ID, in.Operation, in.KeepFailed)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Deletes, v.Nodes, v.Notes, v.Plan.Steps = site.OrEmpty(v.Deletes), site.OrEmpty(v.Nodes), site.OrEmpty(v.Notes), site.OrEmpty(v.Plan.Steps)
	for i := range v.Nodes {
		v.Nodes[i].Services = site.OrEmpty(v.Nodes[i].Services)
	}
	return &site.Body[appoperation.AcceptPartialPreview]{Body: v}, nil
}

func (p *Service) apiAcceptPartial(ctx context.Context, in *acceptPartialInput) (*site.Body[cluster.View], error) {
	hash, how := "", template.PartialOverride{}
	if in.Body != nil {
		hash, how = in.Body.PlanHash, template.PartialOverride{NoBackfill: in.Body.NoBackfill, KeepFailed: in.Body.KeepFailed}
	}
	return p.AnswerCluster(ctx)(p.Partials.AcceptPartial(ctx, site.Caller(ctx), in.ID, in.Operation, hash, how))
}

func (p *Service) apiBackfill(ctx context.Context, in *backfillInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Backfills.SetBackfill(ctx, site.Caller(ctx), in.ID, in.Body))
}

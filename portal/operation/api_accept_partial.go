package operation

import (
	"context"

	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/portal/site"
)

type acceptPartialInput struct {
	Input
	Body *struct {
		PlanHash   string `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash of the previewed plan; if the plan has changed, the request fails with a conflict"`
		NoBackfill bool   `json:"no_backfill,omitempty" doc:"Don't backfill the missing nodes"`
	}
}

type backfillInput struct {
	site.IDInput
	Body appoperation.BackfillOrder
}

func (p *Service) apiAcceptPartialShow(ctx context.Context, in *Input) (*site.Body[appoperation.AcceptPartialPreview], error) {
	v, err := p.Partials.PreviewAcceptPartial(ctx, site.Caller(ctx), in.ID, in.Operation)
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
	hash, noBackfill := "", false
	if in.Body != nil {
		hash, noBackfill = in.Body.PlanHash, in.Body.NoBackfill
	}
	return p.AnswerCluster(ctx)(p.Partials.AcceptPartial(ctx, site.Caller(ctx), in.ID, in.Operation, hash, noBackfill))
}

func (p *Service) apiBackfill(ctx context.Context, in *backfillInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Backfills.SetBackfill(ctx, site.Caller(ctx), in.ID, in.Body))
}

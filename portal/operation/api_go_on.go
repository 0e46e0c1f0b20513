package operation

import (
	"context"

	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/portal/site"
)

type goOnInput struct {
	OperationInput
	Body *struct {
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash of the previewed plan; if the plan has changed, the request fails with a conflict"`
		NoTopUp  bool   `json:"no_top_up,omitempty" doc:"Don't backfill the missing nodes"`
	}
}

type topUpInput struct {
	site.IDInput
	Body appoperation.TopUpOrder
}

func (p *Service) apiGoOnShow(ctx context.Context, in *OperationInput) (*site.Body[appoperation.GoOnPreview], error) {
	v, err := p.Partials.PreviewGoOn(ctx, site.Caller(ctx), in.ID, in.Operation)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.GivesBack, v.Nodes, v.Notes, v.Plan.Steps = site.OrEmpty(v.GivesBack), site.OrEmpty(v.Nodes), site.OrEmpty(v.Notes), site.OrEmpty(v.Plan.Steps)
	for i := range v.Nodes {
		v.Nodes[i].Services = site.OrEmpty(v.Nodes[i].Services)
	}
	return &site.Body[appoperation.GoOnPreview]{Body: v}, nil
}

func (p *Service) apiGoOn(ctx context.Context, in *goOnInput) (*site.Body[cluster.ClusterView], error) {
	hash, noTopUp := "", false
	if in.Body != nil {
		hash, noTopUp = in.Body.PlanHash, in.Body.NoTopUp
	}
	return p.AnswerCluster(ctx)(p.Partials.GoOn(ctx, site.Caller(ctx), in.ID, in.Operation, hash, noTopUp))
}

func (p *Service) apiTopUp(ctx context.Context, in *topUpInput) (*site.Body[cluster.ClusterView], error) {
	return p.AnswerCluster(ctx)(p.Backfills.SetTopUp(ctx, site.Caller(ctx), in.ID, in.Body))
}

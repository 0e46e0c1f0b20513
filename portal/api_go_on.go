package portal

import (
	"context"

	"muster/app"
	appoperation "muster/app/operation"
)

type goOnInput struct {
	OperationInput
	Body *struct {
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"The hash of the plan that was shown; another plan by now is a conflict"`
		NoTopUp  bool   `json:"no_top_up,omitempty" doc:"Do not ask again later for the nodes that are missing"`
	}
}

type topUpInput struct {
	IDInput
	Body app.TopUpOrder
}

func (p *Portal) apiGoOnShow(ctx context.Context, in *OperationInput) (*body[appoperation.GoOnPreview], error) {
	v, err := p.goingOn().PreviewGoOn(ctx, caller(ctx), in.ID, in.Operation)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	v.GivesBack, v.Nodes, v.Notes, v.Plan.Steps = orEmpty(v.GivesBack), orEmpty(v.Nodes), orEmpty(v.Notes), orEmpty(v.Plan.Steps)
	for i := range v.Nodes {
		v.Nodes[i].Services = orEmpty(v.Nodes[i].Services)
	}
	return &body[appoperation.GoOnPreview]{v}, nil
}

func (p *Portal) apiGoOn(ctx context.Context, in *goOnInput) (*body[app.ClusterView], error) {
	hash, noTopUp := "", false
	if in.Body != nil {
		hash, noTopUp = in.Body.PlanHash, in.Body.NoTopUp
	}
	return p.view(ctx)(p.goingOn().GoOn(ctx, caller(ctx), in.ID, in.Operation, hash, noTopUp))
}

func (p *Portal) apiTopUp(ctx context.Context, in *topUpInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.goingOn().SetTopUp(ctx, caller(ctx), in.ID, in.Body))
}

package execution

import (
	"context"

	"muster/app/execution"
	"muster/portal/site"
)

type manualStepListInput struct {
	Cluster string `query:"cluster" maxLength:"256" doc:"Only manual steps of this cluster, by ID or name"`
	Mine    bool   `query:"mine" doc:"Only manual steps that the caller can answer"`
}

type manualStepList struct {
	ManualSteps []execution.ManualStep `json:"manual_steps" nullable:"false"`
}

func (p *Service) apiManualStepList(ctx context.Context, in *manualStepListInput) (*site.Body[manualStepList], error) {
	list, err := p.ManualSteps.ManualSteps(ctx, site.Caller(ctx), execution.ManualStepQuery{Cluster: in.Cluster, Mine: in.Mine})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[manualStepList]{Body: manualStepList{site.OrEmpty(list)}}, nil
}

type answerInput struct {
	ID   string `path:"id" doc:"Cluster ID or name"`
	Body execution.StepAnswer
}

func (p *Service) apiManualStepAnswer(ctx context.Context, in *answerInput) (*site.Body[execution.ManualStep], error) {
	q, err := p.ManualSteps.AnswerStep(ctx, site.Caller(ctx), in.ID, in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[execution.ManualStep]{Body: q}, nil
}

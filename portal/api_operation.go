package portal

import (
	"context"

	"muster/app"
	"muster/app/execution"
	appoperation "muster/app/operation"
)

type OperationInput struct {
	IDInput
	Operation int64 `path:"operation" minimum:"0" doc:"The operation's number; 0 is the one under way, or else the latest"`
}

type cancelInput struct {
	OperationInput
	Body *struct {
		RollBack bool `json:"roll_back,omitempty" doc:"Undo it by itself once it has stopped"`
	}
}

type rollBackInput struct {
	OperationInput
	Body *struct {
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"The hash of the plan that was shown; another plan by now is a conflict"`
	}
}

type nodeInput struct {
	IDInput
	Node string `path:"node" maxLength:"64" doc:"The node's name, such as n3"`
}

type waitingInput struct {
	IDInput
	Node  string `query:"node" maxLength:"64" doc:"Only steps of this node"`
	Step  string `query:"step" maxLength:"256" doc:"Only this step"`
	From  int    `query:"from" minimum:"0" doc:"Only steps from this number of the plan on: next of the answer before"`
	Limit int    `query:"limit" minimum:"0" maximum:"500" doc:"At most so many steps; 0 means 50"`
}

func (p *Portal) apiOperationCancel(ctx context.Context, in *cancelInput) (*body[app.ClusterView], error) {
	rollBack := in.Body != nil && in.Body.RollBack
	return p.view(ctx)(p.muster.CancelOperation(ctx, caller(ctx), in.ID, in.Operation, rollBack))
}

func (p *Portal) apiOperationPause(ctx context.Context, in *OperationInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.muster.PauseOperation(ctx, caller(ctx), in.ID, in.Operation))
}

func (p *Portal) apiOperationResume(ctx context.Context, in *OperationInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.muster.ResumeOperation(ctx, caller(ctx), in.ID, in.Operation))
}

func (p *Portal) apiNodeRetry(ctx context.Context, in *nodeInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.muster.RetryNode(ctx, caller(ctx), in.ID, in.Node))
}

func (p *Portal) apiRollBackShow(ctx context.Context, in *OperationInput) (*body[appoperation.RollBackPreview], error) {
	v, err := p.muster.PreviewRollBack(ctx, caller(ctx), in.ID, in.Operation)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	v.GivesBack, v.Plan.Steps = orEmpty(v.GivesBack), orEmpty(v.Plan.Steps)
	return &body[appoperation.RollBackPreview]{v}, nil
}

func (p *Portal) apiRollBack(ctx context.Context, in *rollBackInput) (*body[app.ClusterView], error) {
	hash := ""
	if in.Body != nil {
		hash = in.Body.PlanHash
	}
	return p.view(ctx)(p.muster.RollBack(ctx, caller(ctx), in.ID, in.Operation, hash))
}

func (p *Portal) apiWaiting(ctx context.Context, in *waitingInput) (*body[execution.Waiting], error) {
	w, err := p.muster.Waiting(ctx, caller(ctx), in.ID, execution.WaitingFilter{Node: in.Node, Step: in.Step, From: in.From, Limit: in.Limit})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	w.Groups, w.Steps = orEmpty(w.Groups), orEmpty(w.Steps)
	return &body[execution.Waiting]{w}, nil
}

func (p *Portal) apiQueue(ctx context.Context, _ *struct{}) (*body[execution.Queue], error) {
	q, err := p.muster.Queue(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	q.Groups, q.Operations = orEmpty(q.Groups), orEmpty(q.Operations)
	return &body[execution.Queue]{q}, nil
}

func (p *Portal) apiQueues(ctx context.Context, _ *struct{}) (*body[execution.Queues], error) {
	q, err := p.installation().Queues(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	q.Tenants = orEmpty(q.Tenants)
	for i := range q.Tenants {
		t := &q.Tenants[i]
		t.Groups, t.Operations = orEmpty(t.Groups), orEmpty(t.Operations)
	}
	return &body[execution.Queues]{q}, nil
}

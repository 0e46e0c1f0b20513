package operation

import (
	"context"

	"muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
	"muster/app/template"
	"muster/portal/site"
)

type Input struct {
	site.IDInput
	Operation int64 `path:"operation" minimum:"0" doc:"Operation number; 0 is the one in progress, or else the latest"`
}

type cancelInput struct {
	Input
	Body *struct {
		RollBack bool `json:"roll_back,omitempty" doc:"Roll back automatically once it has stopped"`
	}
}

type keepInput struct {
	Input
	KeepFailed template.KeepTime `query:"keep_failed" maxLength:"20" doc:"How long to keep failed machines for inspection, such as 4h, or off; default: the cluster's setting"`
}

type rollBackInput struct {
	Input
	Body *struct {
		KeepFailed template.KeepTime `json:"keep_failed,omitempty" maxLength:"20" doc:"How long to keep failed machines for inspection, as previewed"`
		PlanHash   string            `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash of the previewed plan; if the plan has changed, the request fails with a conflict"`
	}
}

type nodeInput struct {
	site.IDInput
	Node string `path:"node" maxLength:"64" doc:"Node name, such as n3"`
}

type waitingInput struct {
	site.IDInput
	Node  string `query:"node" maxLength:"64" doc:"Only steps of this node"`
	Step  string `query:"step" maxLength:"256" doc:"Only this step"`
	From  int    `query:"from" minimum:"0" doc:"Cursor: the next value of the previous page"`
	Limit int    `query:"limit" minimum:"0" maximum:"500" doc:"Maximum number of steps; 0 means 50"`
}

func (p *Service) apiCancel(ctx context.Context, in *cancelInput) (*site.Body[cluster.View], error) {
	rollBack := in.Body != nil && in.Body.RollBack
	return p.AnswerCluster(ctx)(p.Operations.CancelOperation(ctx, site.Caller(ctx), in.ID, in.Operation, rollBack))
}

func (p *Service) apiPause(ctx context.Context, in *Input) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Operations.PauseOperation(ctx, site.Caller(ctx), in.ID, in.Operation))
}

func (p *Service) apiResume(ctx context.Context, in *Input) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Operations.ResumeOperation(ctx, site.Caller(ctx), in.ID, in.Operation))
}

func (p *Service) apiNodeRetry(ctx context.Context, in *nodeInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Operations.RetryNode(ctx, site.Caller(ctx), in.ID, in.Node))
}

func (p *Service) apiRollBackShow(ctx context.Context, in *keepInput) (*site.Body[appoperation.RollBackPreview], error) {
	v, err := p.RollBacks.PreviewRollBack(ctx, site.Caller(ctx), in.ID, in.Operation, in.KeepFailed)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Deletes, v.Plan.Steps = site.OrEmpty(v.Deletes), site.OrEmpty(v.Plan.Steps)
	return &site.Body[appoperation.RollBackPreview]{Body: v}, nil
}

func (p *Service) apiRollBack(ctx context.Context, in *rollBackInput) (*site.Body[cluster.View], error) {
	hash, keep := "", template.KeepTime("")
	if in.Body != nil {
		hash, keep = in.Body.PlanHash, in.Body.KeepFailed
	}
	return p.AnswerCluster(ctx)(p.RollBacks.RollBack(ctx, site.Caller(ctx), in.ID, in.Operation, hash, keep))
}

func (p *Service) apiWaiting(ctx context.Context, in *waitingInput) (*site.Body[execution.Waiting], error) {
	w, err := p.Queues.Waiting(ctx, site.Caller(ctx), in.ID, execution.WaitingFilter{Node: in.Node, Step: in.Step, From: in.From, Limit: in.Limit})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	w.Groups, w.Steps = site.OrEmpty(w.Groups), site.OrEmpty(w.Steps)
	return &site.Body[execution.Waiting]{Body: w}, nil
}

func (p *Service) apiQueue(ctx context.Context, _ *struct{}) (*site.Body[execution.Queue], error) {
	q, err := p.Queues.Queue(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	q.Groups, q.Operations = site.OrEmpty(q.Groups), site.OrEmpty(q.Operations)
	return &site.Body[execution.Queue]{Body: q}, nil
}

func (p *Service) apiQueues(ctx context.Context, _ *struct{}) (*site.Body[execution.Queues], error) {
	q, err := p.Queues.Queues(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	q.Tenants = site.OrEmpty(q.Tenants)
	for i := range q.Tenants {
		t := &q.Tenants[i]
		t.Groups, t.Operations = site.OrEmpty(t.Groups), site.OrEmpty(t.Operations)
	}
	return &site.Body[execution.Queues]{Body: q}, nil
}

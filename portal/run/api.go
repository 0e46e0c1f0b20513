package run

import (
	"context"

	"muster/app/run"
	"muster/portal/site"
)

type runInput struct {
	site.IDInput
	Body struct {
		Command    string         `json:"command,omitempty" maxLength:"16384" doc:"Shell script to run; it's kept and shown, so don't put secrets in it"`
		On         []string       `json:"on,omitempty" maxItems:"1000" doc:"Nodes, as node=NAME, service=NAME, hardware=NAME, image=NAME or zone=NAME; default: all"`
		Batch      int            `json:"batch,omitempty" minimum:"0" maximum:"100000" doc:"Number of nodes at a time; 0: all at once"`
		Action     string         `json:"action,omitempty" maxLength:"64" doc:"Action of the template to run instead of a command"`
		Parameters map[string]any `json:"parameters,omitempty" doc:"Values of the action's parameters"`
		Timeout    string         `json:"timeout,omitempty" maxLength:"20" doc:"Time limit on each node, such as 10m; default: 30m"`
	}
}

type showInput struct {
	site.IDInput
	Operation int64 `path:"operation" minimum:"0" doc:"Operation number; 0 is the latest command"`
}

func (p *Service) apiRun(ctx context.Context, in *runInput) (*site.Updated, error) {
	b := in.Body
	answer, err := p.Runs.RunCommand(ctx, site.Caller(ctx), in.ID, run.Ask{Command: b.Command, Action: b.Action,
		Parameters: b.Parameters, On: b.On, Batch: b.Batch, Timeout: b.Timeout})
	return p.AnswerUpdate(ctx, in.ID, answer, err)
}

func (p *Service) apiShow(ctx context.Context, in *showInput) (*site.Body[run.View], error) {
	v, err := p.Runs.Run(ctx, site.Caller(ctx), in.ID, in.Operation)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[run.View]{Body: v}, nil
}

type actionList struct {
	Actions []run.Action `json:"actions"`
}

func (p *Service) apiActions(ctx context.Context, in *site.IDInput) (*site.Body[actionList], error) {
	all, err := p.Runs.Actions(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[actionList]{Body: actionList{all}}, nil
}

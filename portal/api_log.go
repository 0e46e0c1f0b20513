package portal

import (
	"context"

	"muster/app"
)

type stepListInput struct {
	IDInput
	Operation int64 `query:"operation" minimum:"0" doc:"Which operation; 0 means the latest"`
}

type stepList struct {
	Steps []app.Step `json:"steps" nullable:"false"`
}

func (p *Portal) apiStepList(ctx context.Context, in *stepListInput) (*body[stepList], error) {
	steps, err := p.muster.Steps(ctx, caller(ctx), in.ID, in.Operation)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[stepList]{stepList{orEmpty(steps)}}, nil
}

type logListInput struct {
	IDInput
	Operation int64  `query:"operation" minimum:"0" doc:"Only this operation; 0 means all"`
	Node      string `query:"node" maxLength:"64" doc:"Only this node"`
	Step      string `query:"step" maxLength:"256" doc:"Only this step"`
	After     int64  `query:"after" minimum:"0" doc:"Only lines after this number"`
	Tail      bool   `query:"tail" doc:"The last lines instead of the first"`
	Limit     int    `query:"limit" minimum:"0" maximum:"5000" doc:"At most so many; 0 means 500"`
}

type logList struct {
	Lines []app.LogLine `json:"lines" nullable:"false"`
}

func (p *Portal) apiLogList(ctx context.Context, in *logListInput) (*body[logList], error) {
	lines, err := p.muster.Logs(ctx, caller(ctx), in.ID, app.LogFilter{
		Operation: in.Operation, Node: in.Node, Step: in.Step, After: in.After, Tail: in.Tail, Limit: in.Limit,
	})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[logList]{logList{orEmpty(lines)}}, nil
}

package cluster

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/portal/site"
)

type stepListInput struct {
	site.IDInput
	Operation int64 `query:"operation" minimum:"0" doc:"Operation number; 0 means the latest"`
}

type StepList struct {
	Steps []app.Step `json:"steps" nullable:"false"`
}

func (p *logs) APIStepList(ctx context.Context, in *stepListInput) (*site.Body[StepList], error) {
	steps, err := p.Feed.Steps(ctx, site.Caller(ctx), in.ID, in.Operation)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[StepList]{Body: StepList{site.OrEmpty(steps)}}, nil
}

type logListInput struct {
	site.IDInput
	Operation int64  `query:"operation" minimum:"0" doc:"Only this operation; 0 means all"`
	Node      string `query:"node" maxLength:"64" doc:"Only this node"`
	Step      string `query:"step" maxLength:"256" doc:"Only this step"`
	Stream    string `query:"stream" enum:"stdout,stderr,muster" doc:"Only lines of this stream; muster is for Muster's own lines"`
	Q         string `query:"q" maxLength:"200" doc:"Only lines with this text, ignoring case"`
	After     int64  `query:"after" minimum:"0" doc:"Only lines after this number"`
	Before    int64  `query:"before" minimum:"0" doc:"Only lines before this number; 0 means all"`
	Tail      bool   `query:"tail" doc:"The last lines instead of the first"`
	Limit     int    `query:"limit" minimum:"0" maximum:"5000" doc:"Maximum number of lines; 0 means 500"`
}

type LogList struct {
	Lines []app.LogLine `json:"lines" nullable:"false"`
	Next  int64         `json:"next,omitempty" doc:"Cursor of the next page: pass it as after, or with tail as before. Omitted on the last page"`
	Ended bool          `json:"ended,omitempty" doc:"The operation that was asked for had ended before its lines were read: there will be no more"`
}

func (p *logs) APIList(ctx context.Context, in *logListInput) (*site.Body[LogList], error) {
	f := cluster.LogFilter{
		Operation: in.Operation, Node: in.Node, Step: in.Step, Stream: app.Stream(in.Stream), Text: in.Q,
		After: in.After, Before: in.Before, Tail: in.Tail, Limit: in.Limit,
	}
	found, err := p.Feed.SearchLogs(ctx, site.Caller(ctx), in.ID, f)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[LogList]{Body: LogList{site.OrEmpty(found.Lines), found.Next, found.Ended}}, nil
}

package terminal

import (
	"context"

	"muster/app/terminal"
	"muster/portal/site"
)

type listInput struct {
	Cluster string `query:"cluster" maxLength:"255" doc:"Only terminals of this cluster, by ID or name"`
	Open    bool   `query:"open" doc:"Only terminals that are open"`
	Limit   int    `query:"limit" minimum:"0" maximum:"200" doc:"Maximum number of terminals; 0 means 200"`
}

// terminalList is a list of terminals.
type terminalList struct {
	Terminals []terminal.Terminal `json:"terminals"`
}

func (p *Service) apiList(ctx context.Context, in *listInput) (*site.Body[terminalList], error) {
	list, err := p.Terminals.Terminals(ctx, site.Caller(ctx), terminal.Filter{Cluster: in.Cluster, Open: in.Open, Limit: in.Limit})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[terminalList]{Body: terminalList{site.OrEmpty(list)}}, nil
}

type endInput struct {
	Terminal string `path:"terminal" maxLength:"255" doc:"Terminal ID"`
}

func (p *Service) apiEnd(ctx context.Context, in *endInput) (*struct{}, error) {
	if err := p.Terminals.EndTerminal(ctx, site.Caller(ctx), in.Terminal); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &struct{}{}, nil
}

func (p *Service) apiSettings(ctx context.Context, _ *struct{}) (*site.Body[terminal.Settings], error) {
	s, err := p.Terminals.TerminalSettings(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[terminal.Settings]{Body: s}, nil
}

type settingsBody struct {
	Record   bool `json:"record" doc:"Record new terminals"`
	KeepDays int  `json:"keep_days,omitempty" minimum:"0" maximum:"3650" doc:"How many days recordings are kept; 0 means 90"`
	StepUp   bool `json:"step_up" doc:"People re-authenticate before they open a terminal"`
}

type settingsInput struct {
	Body settingsBody
}

func (p *Service) apiSet(ctx context.Context, in *settingsInput) (*site.Body[terminal.Settings], error) {
	s, err := p.Terminals.SetTerminalSettings(ctx, site.Caller(ctx), terminal.Settings{Record: in.Body.Record, KeepDays: in.Body.KeepDays, StepUp: in.Body.StepUp})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[terminal.Settings]{Body: s}, nil
}

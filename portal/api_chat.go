package portal

import (
	"context"

	"muster/app"
	"muster/app/chat"
)

type SlackTeam struct {
	Team string `path:"team" maxLength:"40" doc:"Slack's id of the workspace, T…, or of the organisation, E…"`
}

type slackChangeInput struct {
	SlackTeam
	Body struct {
		Email bool `json:"email_links" doc:"Link full members to the account with the same verified address"`
	}
}

type SlackChannel struct {
	SlackTeam
	Channel string `path:"channel" maxLength:"40" doc:"Slack's id of the channel, C…"`
}

type slackChannelInput struct {
	SlackChannel
	Body struct {
		Tenant string `json:"tenant" maxLength:"63" doc:"In whose name the channel is to speak"`
		Name   string `json:"name,omitempty" maxLength:"80" doc:"The channel's name, for people"`
	}
}

type slackApprovalsInput struct {
	Body struct {
		Team    string `json:"team" maxLength:"40" doc:"Slack's id of the workspace"`
		Channel string `json:"channel" maxLength:"40" doc:"Slack's id of the channel"`
	}
}

func (p *Portal) apiSlackShow(ctx context.Context, _ *struct{}) (*body[chat.ChatHouse], error) {
	return answered[chat.ChatHouse](ctx, p)(p.chatting().ChatHouse(ctx, caller(ctx), slackKind))
}

func (p *Portal) apiSlackChange(ctx context.Context, in *slackChangeInput) (*body[chat.ChatWorkspace], error) {
	return answered[chat.ChatWorkspace](ctx, p)(p.chatting().ChangeWorkspace(ctx, caller(ctx), slackKind, in.Team, in.Body.Email))
}

func (p *Portal) apiSlackRemove(ctx context.Context, in *SlackTeam) (*struct{}, error) {
	if err := p.chatting().RemoveWorkspace(ctx, caller(ctx), slackKind, in.Team); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

func (p *Portal) apiSlackChannel(ctx context.Context, in *slackChannelInput) (*body[chat.ChatChannel], error) {
	return answered[chat.ChatChannel](ctx, p)(p.chatting().UseChannel(ctx, caller(ctx), chat.ChatChannel{Kind: slackKind, Team: in.Team, Channel: in.Channel, Tenant: in.Body.Tenant,
		Name: app.CutText(in.Body.Name, 80)}))
}

func (p *Portal) apiSlackChannelReset(ctx context.Context, in *SlackChannel) (*struct{}, error) {
	if err := p.chatting().ResetChannel(ctx, caller(ctx), slackKind, in.Team, in.Channel); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

func (p *Portal) apiSlackApprovals(ctx context.Context, in *slackApprovalsInput) (*struct{}, error) {
	if err := p.chatting().SetApprovals(ctx, caller(ctx), chat.ChatApprovals{Kind: slackKind, Team: in.Body.Team, Channel: in.Body.Channel}); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

func (p *Portal) apiSlackApprovalsEnd(ctx context.Context, _ *struct{}) (*struct{}, error) {
	if err := p.chatting().SetApprovals(ctx, caller(ctx), chat.ChatApprovals{Kind: slackKind}); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

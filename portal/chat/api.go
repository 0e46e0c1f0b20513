package chat

import (
	"context"

	"muster/app/chat"
	"muster/app/humanize"
	"muster/portal/site"
)

type SlackTeam struct {
	Team string `path:"team" maxLength:"40" doc:"Slack ID of the workspace (T…) or organization (E…)"`
}

type slackChangeInput struct {
	SlackTeam
	Body struct {
		Email bool `json:"email_links" doc:"Link full members to the account with the same verified email address"`
	}
}

type SlackChannel struct {
	SlackTeam
	Channel string `path:"channel" maxLength:"40" doc:"Slack ID of the channel (C…)"`
}

type slackChannelInput struct {
	SlackChannel
	Body struct {
		Tenant string `json:"tenant" maxLength:"63" doc:"Tenant to assign the channel to"`
		Name   string `json:"name,omitempty" maxLength:"80" doc:"Display name of the channel"`
	}
}

type slackApprovalsInput struct {
	Body struct {
		Team    string `json:"team" maxLength:"40" doc:"Slack ID of the workspace"`
		Channel string `json:"channel" maxLength:"40" doc:"Slack ID of the channel"`
	}
}

func (p *Service) apiSlackShow(ctx context.Context, _ *struct{}) (*site.Body[chat.Settings], error) {
	return site.Answered[chat.Settings](ctx, p.Site)(p.Chats.ChatSettings(ctx, site.Caller(ctx), slackKind))
}

func (p *Service) apiSlackChange(ctx context.Context, in *slackChangeInput) (*site.Body[chat.Workspace], error) {
	return site.Answered[chat.Workspace](ctx, p.Site)(p.Chats.ChangeWorkspace(ctx, site.Caller(ctx), slackKind, in.Team, in.Body.Email))
}

func (p *Service) apiSlackRemove(ctx context.Context, in *SlackTeam) (*struct{}, error) {
	if err := p.Chats.RemoveWorkspace(ctx, site.Caller(ctx), slackKind, in.Team); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiSlackChannel(ctx context.Context, in *slackChannelInput) (*site.Body[chat.Channel], error) {
	return site.Answered[chat.Channel](ctx, p.Site)(p.Chats.UseChannel(ctx, site.Caller(ctx), chat.Channel{Kind: slackKind, Team: in.Team, Channel: in.Channel, Tenant: in.Body.Tenant,
		Name: humanize.CutText(in.Body.Name, 80)}))
}

func (p *Service) apiSlackChannelReset(ctx context.Context, in *SlackChannel) (*struct{}, error) {
	if err := p.Chats.ResetChannel(ctx, site.Caller(ctx), slackKind, in.Team, in.Channel); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiSlackApprovals(ctx context.Context, in *slackApprovalsInput) (*struct{}, error) {
	if err := p.Chats.SetApprovals(ctx, site.Caller(ctx), chat.Approvals{Kind: slackKind, Team: in.Body.Team, Channel: in.Body.Channel}); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiSlackApprovalsEnd(ctx context.Context, _ *struct{}) (*struct{}, error) {
	if err := p.Chats.SetApprovals(ctx, site.Caller(ctx), chat.Approvals{Kind: slackKind}); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

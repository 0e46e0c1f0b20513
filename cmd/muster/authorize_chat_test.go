package main

import (
	"context"
	"time"

	"muster/app/all"
	"muster/app/chat"
)

// workspaceOf makes a workspace of the scene's tenant.
func (s *scene) workspaceOf() string {
	s.used = true
	team := "T" + s.tenant
	s.must(s.server.Store.SaveWorkspace(s.t.Context(), s.boss(), chat.Workspace{Kind: "slack", Team: team, Name: team, Tenant: s.tenant}, chat.ChatTokens{Access: "xoxb-1"}, time.Now()))
	return team
}

// chatTries are those about chats.
var chatTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"ChatSettings": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Chat.Channels.ChatSettings(ctx, s.actor, "slack")
		return err
	},
	"StartChatInstall": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Chat.Workspaces.StartChatInstall(ctx, s.actor)
		return err
	},
	"InstallChat": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Chat.Workspaces.InstallChat(ctx, s.actor, "a state", func(context.Context) (chat.Workspace, chat.ChatTokens, error) {
			return chat.Workspace{}, chat.ChatTokens{}, nil
		})
		return err
	},
	"ChangeWorkspace": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Chat.Workspaces.ChangeWorkspace(ctx, s.actor, "slack", s.workspaceOf(), true)
		return err
	},
	"RemoveWorkspace": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Chat.Workspaces.RemoveWorkspace(ctx, s.actor, "slack", s.workspaceOf())
	},
	"SetApprovals": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Chat.Channels.SetApprovals(ctx, s.actor, chat.Approvals{Kind: "slack", Team: s.workspaceOf(), Channel: "C3"})
	},
}

package site

import (
	"context"

	"muster/app"
	"muster/app/chat"
)

// Chatting is a power that a Muster may have: to look after the chats in which it is.
type Chatting interface {
	ChatHouse(ctx context.Context, a app.Actor, kind string) (chat.ChatHouse, error)
	// StartChatInstall gives what has to come back with the tokens; it is bound to the actor's sign-in.
	StartChatInstall(ctx context.Context, a app.Actor) (state string, err error)
	InstallChat(ctx context.Context, a app.Actor, state string, exchange func(ctx context.Context) (chat.ChatWorkspace, chat.ChatTokens, error)) (chat.ChatWorkspace, error)
	ChangeWorkspace(ctx context.Context, a app.Actor, kind, team string, email bool) (chat.ChatWorkspace, error)
	RemoveWorkspace(ctx context.Context, a app.Actor, kind, team string) error
	UseChannel(ctx context.Context, a app.Actor, c chat.ChatChannel) (chat.ChatChannel, error)
	ResetChannel(ctx context.Context, a app.Actor, kind, team, channel string) error
	SetApprovals(ctx context.Context, a app.Actor, p chat.ChatApprovals) error
}

func (p *Site) Chatting() Chatting {
	c, _ := p.Muster.(Chatting)
	return c
}

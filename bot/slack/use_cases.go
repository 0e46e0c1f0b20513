package slack

import (
	"context"
	"reflect"

	"muster/app/chat"
	"muster/bot"
)

// UseCases are what this package asks for beside the bot, by noun. All of them are always there. Every method may be called from several
// goroutines.
type UseCases struct {
	bot.UseCases
	Cards         bot.Cards
	Details       bot.Details
	Tells         bot.Tells
	StaleHomes    bot.StaleHomes
	Reviews       bot.Reviews
	Installations Installations
	Tokens        Tokens
	Members       Members
	Deliveries    Deliveries
	Follows       Follows
	Asks          Asks
	Connections   Connections
}

// Check panics where one is not set, which is a mistake in wiring.
func (u UseCases) Check() {
	u.UseCases.Check()
	for v, i := reflect.ValueOf(u), 1; i < v.NumField(); i++ {
		if v.Field(i).IsNil() {
			panic("slack: the use cases of " + v.Type().Field(i).Name + " are not set")
		}
	}
}

type (
	// Installations are the workspaces that the bot is in.
	Installations interface {
		ChatWorkspace(ctx context.Context, kind, team, enterprise string) (chat.ChatWorkspace, error)
		ChatWorkspaces(ctx context.Context, kind string) ([]chat.ChatWorkspace, error)
		KeepFixedWorkspace(ctx context.Context, w chat.ChatWorkspace) error
		ChatGone(ctx context.Context, kind, team, why string) error
		// NoteChat notes how a workspace does.
		NoteChat(ctx context.Context, kind, team string, h chat.ChatHealth) error
	}
	// Tokens are those by which the bot acts in workspaces.
	Tokens interface {
		ChatTokens(ctx context.Context, kind, team string) (chat.ChatTokens, error)
		ChatTokensDue(ctx context.Context, kind string) ([]chat.ChatWorkspace, error)
		RefreshChatTokens(ctx context.Context, kind, team, holder string, refresh func(ctx context.Context, token string) (chat.ChatTokens, error)) (chat.ChatTokens, error)
	}
	// Members says in whose name members of workspaces are spoken to, and links them to accounts.
	Members interface {
		ChatHomeTenant(ctx context.Context, w chat.ChatWorkspace, external string) (string, error)
		LinkByEmail(ctx context.Context, kind, external, label, tenant, email string) (bool, error)
	}
	// Deliveries remembers what Slack has sent.
	Deliveries interface {
		// ChatFirst tells whether something known by any of these names comes for the first time.
		ChatFirst(ctx context.Context, kind string, names ...string) (bool, error)
	}
	// Follows has a card made for an operation.
	Follows interface {
		FollowInChat(ctx context.Context, c chat.ChatCard) error
	}
	// Asks has a card made for what a request asks for, once it is approved.
	Asks interface {
		AskedInChat(ctx context.Context, c chat.ChatAsk) error
	}
	// Connections notes how this server is connected.
	Connections interface {
		NoteChatLink(ctx context.Context, l chat.ChatLink) error
	}
)

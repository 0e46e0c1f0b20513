package slack

import (
	"context"
	"reflect"

	"muster/app/chat"
	"muster/bot"
)

// UseCases are the use cases that this package calls besides the bot's, by noun. All of them must be set. Every method may be called from
// several goroutines.
type UseCases struct {
	bot.UseCases
	Cards         bot.Cards
	Details       bot.Details
	DMs           bot.DMs
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

// Check panics if one isn't set, which is a wiring mistake.
func (u UseCases) Check() {
	u.UseCases.Check()
	for v, i := reflect.ValueOf(u), 1; i < v.NumField(); i++ {
		if v.Field(i).IsNil() {
			panic("slack: the use cases of " + v.Type().Field(i).Name + " are not set")
		}
	}
}

type (
	// Installations are the workspaces with the bot.
	Installations interface {
		ChatWorkspace(ctx context.Context, kind, team, enterprise string) (chat.Workspace, error)
		ChatWorkspaces(ctx context.Context, kind string) ([]chat.Workspace, error)
		KeepFixedWorkspace(ctx context.Context, w chat.Workspace) error
		ChatGone(ctx context.Context, kind, team, why string) error
		// NoteChat records a workspace's state.
		NoteChat(ctx context.Context, kind, team string, h chat.Health) error
	}
	// Tokens are the bot's tokens.
	Tokens interface {
		ChatTokens(ctx context.Context, kind, team string) (chat.ChatTokens, error)
		ChatTokensDue(ctx context.Context, kind string) ([]chat.Workspace, error)
		RefreshChatTokens(ctx context.Context, kind, team, holder string, refresh func(ctx context.Context, token string) (chat.ChatTokens, error)) (chat.ChatTokens, error)
	}
	// Members returns the tenant of a workspace's members, and links them to accounts.
	Members interface {
		ChatHomeTenant(ctx context.Context, w chat.Workspace, external string) (string, error)
		LinkByEmail(ctx context.Context, kind, external, label, tenant, email string) (bool, error)
	}
	// Deliveries records payloads from Slack.
	Deliveries interface {
		// ChatFirst reports whether a payload with any of these names is new.
		ChatFirst(ctx context.Context, kind string, names ...string) (bool, error)
	}
	// Follows creates cards for operations.
	Follows interface {
		FollowInChat(ctx context.Context, c chat.Card) error
	}
	// Asks creates cards for requests once they're approved.
	Asks interface {
		RecordChatAsk(ctx context.Context, c chat.Ask) error
	}
	// Connections records this server's connection state.
	Connections interface {
		NoteChatConnection(ctx context.Context, l chat.Connection) error
	}
)

package faces

import (
	"muster/app/all"
	"muster/bot"
	"muster/bot/slack"
)

// Bot returns what a bot asks for on top of u.
func Bot(u *all.Services) bot.UseCases {
	return bot.UseCases{
		People:      u.Identity.Links,
		Catalogs:    u.Catalog,
		Clusters:    u.Cluster.Views,
		Activity:    u.Cluster.Activity,
		Deletes:     u.Cluster.Deletes,
		Creates:     u.Place,
		Updates:     u.Operation.Updates,
		Runs:        u.Run,
		Operations:  u.Operation.Controls,
		RollBacks:   u.Operation.RollBacks,
		Leases:      u.Lease.Leases,
		Idle:        u.Idle,
		Requests:    u.Operation.Requests,
		ManualSteps: u.Execution.ManualSteps,
		Queues:      u.Execution.Waits,
		Quotas:      u.Policy.Quotas,
		Orphans:     u.Fleet.Machines,
		Workspaces:  u.Chat.Workspaces,
		Channels:    u.Chat.Channels,
		Homes:       u.Chat.Homes,
	}
}

// Slack returns what the face for Slack asks for on top of u.
func Slack(u *all.Services) slack.UseCases {
	return slack.UseCases{
		UseCases:      Bot(u),
		Cards:         u.Chat.Cards,
		Details:       u.Chat.Cards,
		DMs:           u.Chat.Messages,
		StaleHomes:    u.Chat.Homes,
		Reviews:       u.Chat.Reviews,
		Installations: u.Chat.Workspaces,
		Tokens:        u.Chat.Tokens,
		Members:       u.Chat.Links,
		Deliveries:    u.Chat.Messages,
		Follows:       u.Chat.Cards,
		Asks:          u.Chat.Messages,
		Connections:   u.Chat.Links,
	}
}

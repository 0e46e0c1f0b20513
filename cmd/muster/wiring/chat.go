package wiring

import (
	"muster/app/all"
	"muster/bot"
	"muster/bot/slack"
)

// Bot returns what a bot asks for on top of u.
func Bot(u *all.App) bot.UseCases {
	return bot.UseCases{
		People:     u.IdentityService,
		Catalogs:   u.CatalogService,
		Clusters:   u.ViewService,
		Activity:   u.ActivityService,
		Deletes:    u.DeleteService,
		Creates:    u.CreateService,
		Amendments: u.OperationService,
		Operations: u.OperationService,
		Leases:     u.OperationService,
		Requests:   u.OperationService,
		Questions:  u.ExecutionService,
		Queues:     u.ExecutionService,
		Quotas:     u.PolicyService,
		Orphans:    u.FleetService,
		Workspaces: u.ChatService,
		Channels:   u.ChatService,
		Homes:      u.ChatService,
	}
}

// Slack returns what the face for Slack asks for on top of u.
func Slack(u *all.App) slack.UseCases {
	return slack.UseCases{
		UseCases:      Bot(u),
		Cards:         u.ChatService,
		Details:       u.ChatService,
		Tells:         u.ChatService,
		StaleHomes:    u.ChatService,
		Reviews:       u.ChatService,
		Installations: u.ChatService,
		Tokens:        u.ChatService,
		Members:       u.ChatService,
		Deliveries:    u.ChatService,
		Follows:       u.ChatService,
		Asks:          u.ChatService,
		Connections:   u.ChatService,
	}
}

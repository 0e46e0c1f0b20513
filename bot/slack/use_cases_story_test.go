package slack_test

import (
	"muster/app/all"
	"muster/bot"
	"muster/bot/slack"
)

// useCases are those of the server.
func useCases(u *all.App) slack.UseCases {
	return slack.UseCases{
		UseCases: bot.UseCases{
			People:     u.IdentityService,
			Catalogs:   u.CatalogService,
			Clusters:   u.ClusterService,
			Activity:   u.ClusterService,
			Deletes:    u.ClusterService,
			Creates:    u.ClusterService,
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
		},
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

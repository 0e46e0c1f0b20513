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
			People:     u.LinkService,
			Catalogs:   u.CatalogService,
			Clusters:   u.ViewService,
			Activity:   u.ActivityService,
			Deletes:    u.DeleteService,
			Creates:    u.CreateService,
			Amendments: u.UpdateService,
			Operations: u.ControlService,
			RollBacks:  u.RollBackService,
			Leases:     u.LeaseService,
			Requests:   u.RequestService,
			Questions:  u.QuestionService,
			Queues:     u.WaitService,
			Quotas:     u.QuotaService,
			Orphans:    u.MachineService,
			Workspaces: u.ChatWorkspaceService,
			Channels:   u.ChatChannelService,
			Homes:      u.ChatHomeService,
		},
		Cards:         u.ChatCardService,
		Details:       u.ChatCardService,
		Tells:         u.ChatMessageService,
		StaleHomes:    u.ChatHomeService,
		Reviews:       u.ChatReviewService,
		Installations: u.ChatWorkspaceService,
		Tokens:        u.ChatTokenService,
		Members:       u.ChatLinkService,
		Deliveries:    u.ChatMessageService,
		Follows:       u.ChatCardService,
		Asks:          u.ChatMessageService,
		Connections:   u.ChatLinkService,
	}
}

package faces

import (
	"muster/app/all"
	"muster/bot"
	"muster/bot/slack"
)

// Bot returns what a bot asks for on top of u.
func Bot(u *all.App) bot.UseCases {
	return bot.UseCases{
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
	}
}

// Slack returns what the face for Slack asks for on top of u.
func Slack(u *all.App) slack.UseCases {
	return slack.UseCases{
		UseCases:      Bot(u),
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

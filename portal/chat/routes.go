package chat

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/slack", p.slackShow),
		site.Submit("/admin/slack/approvals", p.slackApprovals),
		site.Submit("/admin/slack/channels", p.slackChannel),
		site.Submit("/admin/slack/channels/reset", p.slackChannelReset),
		site.Submit("/admin/slack/{team}/email-on", p.slackEmail(true)),
		site.Submit("/admin/slack/{team}/email-off", p.slackEmail(false)),
		site.Submit("/admin/slack/{team}/remove", p.slackRemove),
		site.Show("/slack/install", p.slackInstall),
		site.Show("/slack/oauth", p.slackInstalled),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/slack", p.apiSlackShow, site.About("Show workspaces, channels and connections of Slack, for admins")),
		site.Put("/slack/workspaces/{team}", p.apiSlackChange, site.About("Change how members of a workspace are linked to accounts")),
		site.Delete("/slack/workspaces/{team}", p.apiSlackRemove, site.About("Forget a workspace's tokens, and stop its cards")),
		site.Put("/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannel,
			site.About("Agree that a channel speaks for a tenant; it does once both sides have")),
		site.Delete("/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannelReset, site.About("Give a channel back to the tenant of its workspace")),
		site.Put("/slack/approvals", p.apiSlackApprovals, site.About("Say in which channel requests are shown to their approvers")),
		site.Delete("/slack/approvals", p.apiSlackApprovalsEnd, site.About("Show requests in no channel any more")),
	}
}

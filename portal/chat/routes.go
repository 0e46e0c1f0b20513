package chat

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/slack", p.SlackShow),
		site.Submit("/admin/slack/approvals", p.SlackApprovals),
		site.Submit("/admin/slack/channels", p.SlackChannel),
		site.Submit("/admin/slack/channels/reset", p.SlackChannelReset),
		site.Submit("/admin/slack/{team}/email-on", p.SlackEmail(true)),
		site.Submit("/admin/slack/{team}/email-off", p.SlackEmail(false)),
		site.Submit("/admin/slack/{team}/remove", p.SlackRemove),
		site.Show("/slack/install", p.SlackInstall),
		site.Show("/slack/oauth", p.SlackInstalled),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/slack", p.APISlackShow, site.About("Show workspaces, channels and connections of Slack, for admins")),
		site.Put("/slack/workspaces/{team}", p.APISlackChange, site.About("Change how members of a workspace are linked to accounts")),
		site.Delete("/slack/workspaces/{team}", p.APISlackRemove, site.About("Forget a workspace's tokens, and stop its cards")),
		site.Put("/slack/workspaces/{team}/channels/{channel}", p.APISlackChannel,
			site.About("Agree that a channel speaks for a tenant; it does once both sides have")),
		site.Delete("/slack/workspaces/{team}/channels/{channel}", p.APISlackChannelReset, site.About("Give a channel back to the tenant of its workspace")),
		site.Put("/slack/approvals", p.APISlackApprovals, site.About("Say in which channel requests are shown to their approvers")),
		site.Delete("/slack/approvals", p.APISlackApprovalsEnd, site.About("Show requests in no channel any more")),
	}
}

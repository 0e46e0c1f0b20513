package chat

import "muster/portal/site"

// Routes are the pages.
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

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/slack", p.apiSlackShow, site.About("Show Slack workspaces, channels and connections, for admins")),
		site.Put("/slack/workspaces/{team}", p.apiSlackChange, site.About("Set how members of a workspace are linked to accounts")),
		site.Delete("/slack/workspaces/{team}", p.apiSlackRemove, site.About("Remove a workspace: delete its tokens and stop updating its cards")),
		site.Put("/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannel,
			site.About("Assign a channel to a tenant; admins of both tenants must do this")),
		site.Delete("/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannelReset, site.About("Reset a channel to the tenant of its workspace")),
		site.Put("/slack/approvals", p.apiSlackApprovals, site.About("Set the channel for requests that need approval")),
		site.Delete("/slack/approvals", p.apiSlackApprovalsEnd, site.About("Stop posting requests that need approval")),
	}
}

package webhook

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/notices", p.NoticeList),
		site.Show("/admin/hooks", p.HookList),
		site.Submit("/admin/hooks", p.HookSave),
		site.Show("/admin/hooks/{hook}", p.HookShow),
		site.Submit("/admin/hooks/{hook}/test", p.HookTest),
		site.Submit("/admin/hooks/{hook}/on", p.HookSwitch(true)),
		site.Submit("/admin/hooks/{hook}/off", p.HookSwitch(false)),
		site.Submit("/admin/hooks/{hook}/rotate", p.HookRotate),
		site.Show("/admin/hooks/{hook}/delete", p.HookDeleteAsk),
		site.Submit("/admin/hooks/{hook}/delete", p.HookDelete),
		site.Show("/admin/hooks/{hook}/deliveries/{delivery}", p.HookDelivery),
		site.Submit("/admin/hooks/{hook}/deliveries/{delivery}/resend", p.HookResend),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/notices", p.APINoticeList, site.About("List what you were told, newest first; for admins all of the tenant")),
		site.Get("/hooks", p.APIHookList, site.About("List where notices are sent to, for admins")),
		site.Get("/hooks/{name}", p.APIHookShow, site.About("Show a hook")),
		site.Put("/hooks/{name}", p.APIHookSave, site.About("Make a hook or change it; what is left out stays")),
		site.Delete("/hooks/{name}", p.APIHookDelete, site.About("Delete a hook and the list of its deliveries")),
		site.Post("/hooks/{name}/test", p.APIHookTest, site.About("Send a test notice"), site.Answers(http.StatusAccepted)),
		site.Get("/hooks/{name}/deliveries", p.APIHookDeliveryList, site.About("List what was sent to a hook, newest first")),
		site.Get("/hooks/{name}/deliveries/{delivery}", p.APIHookDelivery, site.About("Show a delivery: what was sent, and every answer")),
		site.Post("/hooks/{name}/deliveries/{delivery}/resend", p.APIHookResend,
			site.About("Send a delivery again, under the same number"), site.Answers(http.StatusAccepted)),
	}
}

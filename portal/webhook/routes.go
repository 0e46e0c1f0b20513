package webhook

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/notices", p.noticeList),
		site.Show("/admin/hooks", p.hookList),
		site.Submit("/admin/hooks", p.hookSave),
		site.Show("/admin/hooks/{hook}", p.hookShow),
		site.Submit("/admin/hooks/{hook}/test", p.hookTest),
		site.Submit("/admin/hooks/{hook}/on", p.hookSwitch(true)),
		site.Submit("/admin/hooks/{hook}/off", p.hookSwitch(false)),
		site.Submit("/admin/hooks/{hook}/rotate", p.hookRotate),
		site.Show("/admin/hooks/{hook}/delete", p.hookDeleteAsk),
		site.Submit("/admin/hooks/{hook}/delete", p.hookDelete),
		site.Show("/admin/hooks/{hook}/deliveries/{delivery}", p.hookDelivery),
		site.Submit("/admin/hooks/{hook}/deliveries/{delivery}/resend", p.hookResend),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/notices", p.apiNoticeList, site.About("List what you were told, newest first; for admins all of the tenant")),
		site.Get("/hooks", p.apiHookList, site.About("List where notices are sent to, for admins")),
		site.Get("/hooks/{name}", p.apiHookShow, site.About("Show a hook")),
		site.Put("/hooks/{name}", p.apiHookSave, site.About("Make a hook or change it; what is left out stays")),
		site.Delete("/hooks/{name}", p.apiHookDelete, site.About("Delete a hook and the list of its deliveries")),
		site.Post("/hooks/{name}/test", p.apiHookTest, site.About("Send a test notice"), site.Answers(http.StatusAccepted)),
		site.Get("/hooks/{name}/deliveries", p.apiHookDeliveryList, site.About("List what was sent to a hook, newest first")),
		site.Get("/hooks/{name}/deliveries/{delivery}", p.apiHookDelivery, site.About("Show a delivery: what was sent, and every answer")),
		site.Post("/hooks/{name}/deliveries/{delivery}/resend", p.apiHookResend,
			site.About("Send a delivery again, under the same number"), site.Answers(http.StatusAccepted)),
	}
}

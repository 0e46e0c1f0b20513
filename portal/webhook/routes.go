package webhook

import (
	"net/http"

	"muster/portal/site"
)

// Routes are the pages.
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

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/notices", p.apiNoticeList, site.About("List your notifications, newest first; admins list the tenant's")),
		site.Get("/hooks", p.apiHookList, site.About("List webhooks and operation hooks, for admins")),
		site.Get("/hooks/{name}", p.apiHookShow, site.About("Show a hook")),
		site.Put("/hooks/{name}", p.apiHookSave, site.About("Create or change a hook; missing fields keep their values")),
		site.Delete("/hooks/{name}", p.apiHookDelete, site.About("Delete a hook and its list of deliveries")),
		site.Post("/hooks/{name}/test", p.apiHookTest, site.About("Send a test notification"), site.Answers(http.StatusAccepted)),
		site.Get("/hooks/{name}/deliveries", p.apiHookDeliveryList, site.About("List a hook's deliveries, newest first")),
		site.Get("/hooks/{name}/deliveries/{delivery}", p.apiHookDelivery, site.About("Show a delivery with its request and responses")),
		site.Post("/hooks/{name}/deliveries/{delivery}/resend", p.apiHookResend,
			site.About("Resend a delivery, under the same number"), site.Answers(http.StatusAccepted)),
	}
}

package webhook

import (
	"net/http"

	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/notifications/history", p.noticeList),
		site.Show("/admin/webhooks", p.hookList),
		site.Submit("/admin/webhooks", p.hookSave),
		site.Show("/admin/webhooks/{hook}", p.hookShow),
		site.Submit("/admin/webhooks/{hook}/test", p.hookTest),
		site.Submit("/admin/webhooks/{hook}/on", p.hookSwitch(true)),
		site.Submit("/admin/webhooks/{hook}/off", p.hookSwitch(false)),
		site.Submit("/admin/webhooks/{hook}/rotate", p.hookRotate),
		site.Show("/admin/webhooks/{hook}/delete", p.hookDeleteAsk),
		site.Submit("/admin/webhooks/{hook}/delete", p.hookDelete),
		site.Show("/admin/webhooks/{hook}/deliveries/{delivery}", p.hookDelivery),
		site.Submit("/admin/webhooks/{hook}/deliveries/{delivery}/resend", p.hookResend),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/notifications", p.apiNoticeList, site.About("List your notifications, newest first; admins list the tenant's")),
		site.Get("/webhooks", p.apiHookList, site.About("List webhooks and operation hooks, for admins")),
		site.Get("/webhooks/{name}", p.apiHookShow, site.About("Show a hook")),
		site.Put("/webhooks/{name}", p.apiHookSave, site.About("Create or change a hook; missing fields keep their values")),
		site.Delete("/webhooks/{name}", p.apiHookDelete, site.About("Delete a hook and its list of deliveries")),
		site.Post("/webhooks/{name}/test", p.apiHookTest, site.About("Send a test notification"), site.Answers(http.StatusAccepted)),
		site.Get("/webhooks/{name}/deliveries", p.apiHookDeliveryList, site.About("List a hook's deliveries, newest first")),
		site.Get("/webhooks/{name}/deliveries/{delivery}", p.apiHookDelivery, site.About("Show a delivery with its request and responses")),
		site.Post("/webhooks/{name}/deliveries/{delivery}/resend", p.apiHookResend,
			site.About("Resend a delivery, under the same number"), site.Answers(http.StatusAccepted)),
	}
}

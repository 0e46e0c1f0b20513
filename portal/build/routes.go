package build

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	const hook = "/admin/builds/{hook}"
	return []site.Route{
		site.Show("/admin/builds", p.hookList),
		site.Submit("/admin/builds", p.hookMake),
		site.Show(hook, p.hookShow),
		site.Submit(hook+"/on", p.hookSwitch(true)),
		site.Submit(hook+"/off", p.hookSwitch(false)),
		site.Submit(hook+"/secret", p.hookSecret),
		site.Submit(hook+"/statuses", p.hookStatuses),
		site.Submit(hook+"/rules", p.hookRules),
		site.Show(hook+"/delete", p.hookDeleteAsk),
		site.Submit(hook+"/delete", p.hookDelete),
		site.Submit(hook+"/end/{build}", p.hookEnd),
		site.Show(hook+"/deliveries/{delivery}", p.deliveryShow),
		site.Submit(hook+"/deliveries/{delivery}/replay", p.deliveryReplay),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/build-hooks", p.apiHookList, site.About("List build hooks (admins)")),
		site.Get("/build-hooks/{name}", p.apiHookShow, site.About("Get a build hook with its rules")),
		site.Put("/build-hooks/{name}", p.apiHookSave, site.About("Create or update a build hook; omitted fields stay unchanged")),
		site.Delete("/build-hooks/{name}", p.apiHookDelete, site.About("Delete a build hook and the clusters of its builds")),
		site.Put("/build-hooks/{name}/rules", p.apiRulesSave, site.About("Replace the rules of a build hook")),
		site.Post("/build-hooks/{name}/try", p.apiTry, site.About("Try rules with an event, without side effects")),
		site.Get("/build-hooks/{name}/deliveries", p.apiDeliveryList, site.About("List deliveries to a build hook, newest first")),
		site.Get("/build-hooks/{name}/deliveries/{delivery}", p.apiDelivery, site.About("Get a delivery with its body")),
		site.Post("/build-hooks/{name}/deliveries/{delivery}/replay", p.apiReplay, site.About("Replay a delivery with the current rules")),
		site.Get("/builds", p.apiList, site.About("List builds, newest first")),
		site.Get("/builds/{build}", p.apiShow, site.About("Get a build with its cluster, optionally waiting until it's ready")),
		site.Post("/builds/{build}/end", p.apiEnd, site.About("End a build and delete its cluster"), site.Answers(http.StatusAccepted)),
		site.Post("/builds/{build}/extend", p.apiExtend, site.About("Extend the lease of a build's cluster")),
	}
}

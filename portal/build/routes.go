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
		site.Get("/build-hooks", p.apiHookList, site.About("List where build systems tell of their builds, for admins")),
		site.Get("/build-hooks/{name}", p.apiHookShow, site.About("Show a build hook with its rules")),
		site.Put("/build-hooks/{name}", p.apiHookSave, site.About("Make a build hook or change it; what is left out stays")),
		site.Delete("/build-hooks/{name}", p.apiHookDelete, site.About("Delete a build hook, and give back the clusters of its builds")),
		site.Put("/build-hooks/{name}/rules", p.apiRulesSave, site.About("Say what is done with which event")),
		site.Post("/build-hooks/{name}/try", p.apiTry, site.About("Say what rules would do with an event, without doing it")),
		site.Get("/build-hooks/{name}/deliveries", p.apiDeliveryList, site.About("List what was sent to a build hook, newest first")),
		site.Get("/build-hooks/{name}/deliveries/{delivery}", p.apiDelivery, site.About("Show a delivery with its body")),
		site.Post("/build-hooks/{name}/deliveries/{delivery}/replay", p.apiReplay, site.About("Run a delivery again, against today's rules")),
		site.Get("/builds", p.apiList, site.About("List builds and how they stand, newest first")),
		site.Get("/builds/{build}", p.apiShow, site.About("Show a build with its cluster; it can be waited for")),
		site.Post("/builds/{build}/end", p.apiEnd, site.About("End a build: its cluster is given back"), site.Answers(http.StatusAccepted)),
		site.Post("/builds/{build}/extend", p.apiExtend, site.About("Move the end of the lease of a build's cluster")),
	}
}

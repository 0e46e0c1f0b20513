package build

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	const hook = "/admin/builds/{hook}"
	return []site.Route{
		site.Show("/admin/builds", p.HookList),
		site.Submit("/admin/builds", p.HookMake),
		site.Show(hook, p.HookShow),
		site.Submit(hook+"/on", p.HookSwitch(true)),
		site.Submit(hook+"/off", p.HookSwitch(false)),
		site.Submit(hook+"/secret", p.HookSecret),
		site.Submit(hook+"/statuses", p.HookStatuses),
		site.Submit(hook+"/rules", p.HookRules),
		site.Show(hook+"/delete", p.HookDeleteAsk),
		site.Submit(hook+"/delete", p.HookDelete),
		site.Submit(hook+"/end/{build}", p.HookEnd),
		site.Show(hook+"/deliveries/{delivery}", p.DeliveryShow),
		site.Submit(hook+"/deliveries/{delivery}/replay", p.DeliveryReplay),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/build-hooks", p.APIHookList, site.About("List where build systems tell of their builds, for admins")),
		site.Get("/build-hooks/{name}", p.APIHookShow, site.About("Show a build hook with its rules")),
		site.Put("/build-hooks/{name}", p.APIHookSave, site.About("Make a build hook or change it; what is left out stays")),
		site.Delete("/build-hooks/{name}", p.APIHookDelete, site.About("Delete a build hook, and give back the clusters of its builds")),
		site.Put("/build-hooks/{name}/rules", p.APIRulesSave, site.About("Say what is done with which event")),
		site.Post("/build-hooks/{name}/try", p.APITry, site.About("Say what rules would do with an event, without doing it")),
		site.Get("/build-hooks/{name}/deliveries", p.APIDeliveryList, site.About("List what was sent to a build hook, newest first")),
		site.Get("/build-hooks/{name}/deliveries/{delivery}", p.APIDelivery, site.About("Show a delivery with its body")),
		site.Post("/build-hooks/{name}/deliveries/{delivery}/replay", p.APIReplay, site.About("Run a delivery again, against today's rules")),
		site.Get("/builds", p.APIList, site.About("List builds and how they stand, newest first")),
		site.Get("/builds/{build}", p.APIShow, site.About("Show a build with its cluster; it can be waited for")),
		site.Post("/builds/{build}/end", p.APIEnd, site.About("End a build: its cluster is given back"), site.Answers(http.StatusAccepted)),
		site.Post("/builds/{build}/extend", p.APIExtend, site.About("Move the end of the lease of a build's cluster")),
	}
}

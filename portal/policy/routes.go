package policy

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/requests", p.requestList),
		site.Show("/requests/{request}", p.requestShow),
		site.Show("/requests/{request}/{act:review|confirm|withdraw|break-glass}", p.requestBack),
		site.Submit("/requests/{request}/review", p.requestAct(p.requestReview)),
		site.Submit("/requests/{request}/confirm", p.requestAct(p.requestConfirm)),
		site.Submit("/requests/{request}/withdraw", p.requestAct(p.requestWithdraw)),
		site.Submit("/requests/{request}/break-glass", p.requestAct(p.requestBreakGlass)),
		site.Show("/admin/policies", p.List),
		site.Submit("/admin/policies", p.Save),
		site.Show("/admin/policies/new", p.New),
		site.Submit("/admin/policies/zone", p.Zone),
		site.Redirect("/admin/policies/try", "/admin/policies"),
		site.Submit("/admin/policies/try", p.Try),
		site.Show("/admin/policies/{policy}", p.Show),
		site.Submit("/admin/policies/{policy}/delete", p.Delete),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/clusters", p.apiClusterCreate, site.About("Create a cluster, or ask for one that people have to approve"), EitherWay),
		site.Get("/requests", p.apiRequestList, site.About("List requests, newest first")),
		site.Get("/requests/{id}", p.apiRequestShow, site.About("Show a request")),
		site.Post("/requests/{id}/reviews", p.apiRequestReview, site.About("Approve a request, deny it, or approve it with conditions")),
		site.Post("/requests/{id}/confirm", p.apiRequestConfirm, site.About("Take what was offered")),
		site.Post("/requests/{id}/withdraw", p.apiRequestWithdraw, site.About("Withdraw a request")),
		site.Post("/requests/{id}/break-glass", p.apiRequestBreakGlass, site.About("Let a request run at once, without approvals")),
		site.Get("/policies", p.apiList, site.About("List policies in the order in which they are looked at")),
		site.Post("/policies/try", p.apiTry, site.About("Say what a policy would do, to a made-up request and to those of the past")),
		site.Put("/policies-time-zone", p.apiZone, site.About("Set the time zone by which policies tell weekday and hour")),
		site.Get("/policies/{name}", p.apiShow, site.About("Show a policy with all of its versions")),
		site.Put("/policies/{name}", p.apiSave, site.About("Save a policy")),
		site.Delete("/policies/{name}", p.apiDelete, site.About("Delete a policy")),
	}
}

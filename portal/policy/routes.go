package policy

import "muster/portal/site"

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/requests", p.requestList),
		site.Show("/requests/{request}", p.requestShow),
		site.Show("/requests/{request}/{act:review|confirm|withdraw|run-now|break-glass}", p.requestBack),
		site.Submit("/requests/{request}/review", p.requestAct(p.requestReview)),
		site.Submit("/requests/{request}/confirm", p.requestAct(p.requestConfirm)),
		site.Submit("/requests/{request}/withdraw", p.requestAct(p.requestWithdraw)),
		site.Submit("/requests/{request}/run-now", p.requestAct(p.requestRunNow)),
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

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/clusters", p.apiClusterCreate, site.About("Create a cluster, or request one that needs approval"), EitherWay),
		site.Get("/requests", p.apiRequestList, site.About("List requests, newest first")),
		site.Get("/requests/{id}", p.apiRequestShow, site.About("Show a request")),
		site.Post("/requests/{id}/reviews", p.apiRequestReview, site.About("Approve a request, deny it, or approve it with conditions")),
		site.Post("/requests/{id}/confirm", p.apiRequestConfirm, site.About("Accept an offer")),
		site.Post("/requests/{id}/withdraw", p.apiRequestWithdraw, site.About("Withdraw a request")),
		site.Post("/requests/{id}/run-now", p.apiRequestRunNow, site.About("Start a waiting change before its maintenance window")),
		site.Post("/requests/{id}/break-glass", p.apiRequestBreakGlass, site.About("Start a request without approval, by emergency override")),
		site.Get("/policies", p.apiList, site.About("List policies in the order of evaluation")),
		site.Post("/policies/try", p.apiTry, site.About("Test a policy against a sample request and recent requests")),
		site.Put("/policies-time-zone", p.apiZone, site.About("Set the time zone of weekday and hour in policies")),
		site.Get("/policies/{name}", p.apiShow, site.About("Show a policy with all its versions")),
		site.Put("/policies/{name}", p.apiSave, site.About("Save a policy")),
		site.Delete("/policies/{name}", p.apiDelete, site.About("Delete a policy")),
	}
}

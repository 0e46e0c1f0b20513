package policy

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/requests", p.RequestList),
		site.Show("/requests/{request}", p.RequestShow),
		site.Show("/requests/{request}/{act:review|confirm|withdraw|break-glass}", p.RequestBack),
		site.Submit("/requests/{request}/review", p.RequestAct(p.RequestReview)),
		site.Submit("/requests/{request}/confirm", p.RequestAct(p.RequestConfirm)),
		site.Submit("/requests/{request}/withdraw", p.RequestAct(p.RequestWithdraw)),
		site.Submit("/requests/{request}/break-glass", p.RequestAct(p.RequestBreakGlass)),
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
		site.Post("/clusters", p.APIClusterCreate, site.About("Create a cluster, or ask for one that people have to approve"), EitherWay),
		site.Get("/requests", p.APIRequestList, site.About("List requests, newest first")),
		site.Get("/requests/{id}", p.APIRequestShow, site.About("Show a request")),
		site.Post("/requests/{id}/reviews", p.APIRequestReview, site.About("Approve a request, deny it, or approve it with conditions")),
		site.Post("/requests/{id}/confirm", p.APIRequestConfirm, site.About("Take what was offered")),
		site.Post("/requests/{id}/withdraw", p.APIRequestWithdraw, site.About("Withdraw a request")),
		site.Post("/requests/{id}/break-glass", p.APIRequestBreakGlass, site.About("Let a request run at once, without approvals")),
		site.Get("/policies", p.APIList, site.About("List policies in the order in which they are looked at")),
		site.Post("/policies/try", p.APITry, site.About("Say what a policy would do, to a made-up request and to those of the past")),
		site.Put("/policies-time-zone", p.APIZone, site.About("Set the time zone by which policies tell weekday and hour")),
		site.Get("/policies/{name}", p.APIShow, site.About("Show a policy with all of its versions")),
		site.Put("/policies/{name}", p.APISave, site.About("Save a policy")),
		site.Delete("/policies/{name}", p.APIDelete, site.About("Delete a policy")),
	}
}

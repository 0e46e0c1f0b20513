package quota

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/usage", p.usageShow),
		site.Show("/admin/quotas", p.Page),
		site.Submit("/admin/quotas", p.Save),
		site.Submit("/admin/quotas/delete", p.Delete),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/quotas", p.apiList, site.About("List quotas and how much of each is used, for admins")),
		site.Put("/quotas", p.apiSet, site.About("Set the quota of a group, of a user, for each user, or of the tenant")),
		site.Delete("/quotas", p.apiDelete, site.About("Lift a quota")),
		site.Get("/quotas/left", p.apiLeft, site.About("Tell what is left for you, and by which limit")),
		site.Get("/clusters/{id}/lease", p.apiLeaseShow, site.About("Tell when a lease ends, who was warned, and what would keep it from ending")),
		site.Post("/clusters/{id}/lease", p.apiLeaseExtend, site.About("Move the end of a lease"), site.Answers(http.StatusOK)),
		site.Get("/usage", p.apiUsage, site.About("Tell what was used, and what it cost"), UsageForms),
	}
}

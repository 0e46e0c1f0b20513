package quota

import (
	"net/http"

	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/usage", p.usageShow),
		site.Show("/admin/quotas", p.Page),
		site.Submit("/admin/quotas", p.Save),
		site.Submit("/admin/quotas/delete", p.Delete),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/quotas", p.apiList, site.About("List quotas and their usage, for admins")),
		site.Put("/quotas", p.apiSet, site.About("Set the quota of a group, a user, each user or the tenant")),
		site.Delete("/quotas", p.apiDelete, site.About("Delete a quota")),
		site.Get("/quotas/remaining", p.apiLeft, site.About("Show how much quota you have left, by limit")),
		site.Get("/clusters/{id}/lease", p.apiLeaseShow, site.About("Show when a lease expires, who was warned, and what blocks expiry")),
		site.Post("/clusters/{id}/lease", p.apiLeaseExtend, site.About("Extend or shorten a lease"), site.Answers(http.StatusOK)),
		site.Get("/usage", p.apiUsage, site.About("Show usage and costs"), UsageForms),
	}
}

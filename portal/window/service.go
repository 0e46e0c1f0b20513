package window

import "muster/portal/site"

// Service serves the pages and REST operations of maintenance windows.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/maintenance", p.tenantShow),
		site.Submit("/admin/maintenance", p.tenantSet),
		site.Show("/clusters/{id}/maintenance", p.clusterShow),
		site.Submit("/clusters/{id}/maintenance", p.clusterSet),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/maintenance", p.apiTenantShow, site.About("Show the tenant's maintenance windows")),
		site.Put("/maintenance", p.apiTenantSet, site.About("Set the tenant's maintenance windows")),
		site.Get("/clusters/{id}/maintenance", p.apiClusterShow, site.About("Show a cluster's maintenance windows and the changes that wait for them")),
		site.Put("/clusters/{id}/maintenance", p.apiClusterSet, site.About("Give a cluster its own maintenance windows")),
		site.Delete("/clusters/{id}/maintenance", p.apiClusterDelete, site.About("Let a cluster use the tenant's maintenance windows again")),
	}
}

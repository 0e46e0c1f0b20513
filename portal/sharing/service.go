package sharing

import "muster/portal/site"

// Service serves the pages and REST operations of sharing.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/sharing", p.show),
		site.Submit("/clusters/{id}/sharing", p.share),
		site.Show("/admin/sharing", p.showDefault),
		site.Submit("/admin/sharing", p.setDefault),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/sharing", p.apiShow, site.About("Show who has access to a cluster")),
		site.Put("/clusters/{id}/sharing", p.apiChange, site.About("Share a cluster with users and groups, or set its visibility")),
		site.Get("/cluster-defaults", p.apiDefaults, site.About("Show the default visibility of new clusters")),
		site.Put("/cluster-defaults", p.apiSetDefaults, site.About("Set the default visibility of new clusters (admins)")),
	}
}

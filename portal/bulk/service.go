package bulk

import "muster/portal/site"

// Service serves the pages and REST operations.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/bulk", p.ask),
		site.Submit("/clusters/bulk", p.run),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/clusters/bulk/preview", p.apiPreview, site.About("Preview an action on several clusters, with a result for each")),
		site.Post("/clusters/bulk", p.apiRun,
			site.About("Extend the leases of several clusters, put them to sleep, wake or delete them, with a result for each")),
	}
}

package providervalue

import "muster/portal/site"

// Service serves the page and REST operations of provider values.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/provider-values", p.show),
		site.Submit("/clusters/{id}/provider-values", p.set),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/provider-values", p.apiShow, site.About("Show a cluster's own settings of its provider, without sensitive values")),
		site.Put("/clusters/{id}/provider-values", p.apiSet,
			site.About("Replace some of a cluster's own settings of its provider, such as expired credentials")),
	}
}

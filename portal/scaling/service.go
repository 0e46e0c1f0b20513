package scaling

import "muster/portal/site"

// Service serves the page and REST operations of scaling.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/scaling", p.show),
		site.Submit("/clusters/{id}/scaling", p.set),
		site.Submit("/clusters/{id}/scaling/resume", p.resume),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/scaling", p.apiShow, site.About("Show how a cluster is scaled, what was measured, and what was decided")),
		site.Put("/clusters/{id}/scaling", p.apiSet, site.About("Set a cluster's own scaling rules, or turn its scaling off")),
		site.Delete("/clusters/{id}/scaling", p.apiDelete, site.About("Let a cluster use its template's scaling rules again")),
		site.Post("/clusters/{id}/scaling/resume", p.apiResume, site.About("Resume scaling that is paused after failures")),
	}
}

package run

import (
	"muster/portal/site"
)

// Service serves commands.
type Service struct{ *site.Site }

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/actions", p.actions),
		site.Show("/clusters/{id}/runs/{operation}", p.show),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/actions", p.apiActions, site.About("List the actions of a cluster's template")),
		site.Post("/clusters/{id}/runs", p.apiRun, site.About("Run a command or an action on nodes, or request it if approval is required"), site.EitherUpdate),
		site.Get("/clusters/{id}/runs/{operation}", p.apiShow, site.About("Show a command and its exit codes")),
	}
}

package terminal

import (
	"net/http"

	"muster/portal/site"
)

// Service serves the pages and REST operations of terminals.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/nodes/{node}/terminal", p.show),
		site.Show("/clusters/{id}/nodes/{node}/terminal/stream", p.stream).Stream(),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/terminals", p.apiList, site.About("List terminals, your own or as an admin everyone's, the newest first")),
		site.Delete("/terminals/{terminal}", p.apiEnd, site.About("End a terminal, your own or as an admin anyone's"), site.Answers(http.StatusNoContent)),
	}
}

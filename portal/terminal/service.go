package terminal

import (
	"net/http"
	"time"

	"muster/portal/site"
)

// Service serves the pages and REST operations of terminals.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// castTime is how long downloading a recording may take.
const castTime = 5 * time.Minute

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/nodes/{node}/terminal", p.show),
		site.Show("/clusters/{id}/nodes/{node}/terminal/stream", p.stream).Stream(),
		site.Show("/terminals", p.list),
		site.Show("/terminals/{terminal}", p.play),
		site.Show("/terminals/{terminal}/recording", p.cast).Within(castTime),
		site.Submit("/terminals/{terminal}/end", p.end),
		site.Submit("/admin/terminals", p.save),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/terminals", p.apiList, site.About("List terminals, your own or as an admin everyone's, the newest first")),
		site.Delete("/terminals/{terminal}", p.apiEnd, site.About("End a terminal, your own or as an admin anyone's"), site.Answers(http.StatusNoContent)),
		site.Get("/clusters/{id}/nodes/{node}/ssh", p.apiSSH, site.About("Connect to the SSH port of a node through the server"), streamOf),
		site.Get("/terminal-settings", p.apiSettings, site.About("Show whether terminals are recorded, and for how long recordings are kept")),
		site.Put("/terminal-settings", p.apiSet, site.About("Set whether new terminals are recorded, and whether people re-authenticate to open one")),
	}
}

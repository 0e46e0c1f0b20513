package lock

import (
	"net/http"

	"muster/portal/site"
)

// Service serves the pages and REST operations of locks.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/locks", p.show),
		site.Submit("/clusters/{id}/lock", p.lock),
		site.Submit("/clusters/{id}/unlock", p.unlock),
		site.Show("/admin/locks", p.showAll),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/locks", p.apiList, site.About("List locked clusters and nodes (admins)")),
		site.Put("/clusters/{id}/lock", p.apiLock, site.About("Lock a cluster or one of its nodes (admins)"), site.Answers(http.StatusNoContent)),
		site.Delete("/clusters/{id}/lock", p.apiUnlock, site.About("Unlock a cluster or one of its nodes (admins)")),
	}
}

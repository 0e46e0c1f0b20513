package node

import (
	"muster/app"
	"muster/app/node"
	"muster/portal/site"
)

// Service serves the page and the REST operation.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{site.Show("/nodes", p.list)}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{site.Get("/nodes", p.apiList, site.About("List the nodes of all clusters, newest cluster first"))}
}

// mine replaces the owner "me" by the caller.
func mine(f node.Filter, a app.Actor) node.Filter {
	if f.Owner == "me" {
		f.Owner = a.Name()
	}
	return f
}

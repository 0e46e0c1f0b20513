package cluster

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) (all []site.Route) {
	for _, x := range p.parts {
		all = append(all, x.routes()...)
	}
	return all
}

// Operations are its part of the REST API.
func Operations(p *Service) (all []site.Operation) {
	for _, x := range p.parts {
		all = append(all, x.operations()...)
	}
	return all
}

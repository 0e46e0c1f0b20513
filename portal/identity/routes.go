package identity

import "muster/portal/site"

// Routes are the pages.
func Routes(p *Service) (all []site.Route) {
	for _, x := range p.parts {
		all = append(all, x.routes()...)
	}
	return all
}

// Operations are the REST operations.
func Operations(p *Service) (all []site.Operation) {
	for _, x := range p.parts {
		all = append(all, x.operations()...)
	}
	return all
}

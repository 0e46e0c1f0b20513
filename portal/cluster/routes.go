package cluster

import (
	"slices"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return slices.Concat(
		p.List.routes(),
		p.creates.routes(),
		p.clones.routes(),
		p.Page.routes(),
		p.logs.routes(),
		p.access.routes(),
		p.manage.routes(),
		p.sharing.routes(),
		p.power.routes(),
		p.leases.routes(),
		p.ManualSteps.routes(),
	)
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return slices.Concat(
		p.List.operations(),
		p.creates.operations(),
		p.clones.operations(),
		p.Page.operations(),
		p.events.operations(),
		p.logs.operations(),
		p.access.operations(),
		p.manage.operations(),
		p.sharing.operations(),
		p.power.operations(),
	)
}

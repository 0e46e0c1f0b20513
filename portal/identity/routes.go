package identity

import (
	"slices"

	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return slices.Concat(
		p.signIns.routes(),
		p.providers.routes(),
		p.StepUps.routes(),
		p.accounts.routes(),
		p.factors.routes(),
		p.devices.routes(),
		p.tokens.routes(),
		p.users.routes(),
		p.groups.routes(),
		p.tenants.routes(),
	)
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return slices.Concat(
		p.factors.operations(),
		p.devices.operations(),
		p.tokens.operations(),
		p.users.operations(),
		p.groups.operations(),
		p.tenants.operations(),
		p.tenantSettings.operations(),
	)
}

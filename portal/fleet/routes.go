package fleet

import (
	"net/http"

	"muster/app/fleet"
	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/settings", p.settingsShow),
		site.Show("/admin/provider-health", p.providerHealthShow),
		site.Show("/provisioners", p.provisionerList),
		site.Show("/provisioners/{provisioner}", p.provisionerShow),
		site.Submit("/provisioners/{provisioner}/drain", p.provisionerDrain),
		site.Show("/orphans", p.orphanList),
		site.Submit("/orphans/mode", p.orphanMode),
		site.Submit("/orphans/{orphan}/delete", p.orphanDecide(fleet.DecideDelete)),
		site.Submit("/orphans/{orphan}/keep", p.orphanDecide(fleet.DecideKeep)),
		site.Show("/clusters/{id}/receipt", p.clusterReceipt),
	}
}

// AccountRoutes are the pages of provider accounts, next to those of the catalog.
func AccountRoutes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/catalog/provider/{name}/check", p.ProviderCheck).Within(surveyTime),
		site.Show("/admin/catalog/provider/{name}/offers", p.providerOffers).Within(surveyTime),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/receipt", p.apiReceipt, site.About("Show a cluster's receipt: its machines and their cost")),
		site.Get("/orphans", p.apiOrphanList, site.About("List orphaned machines, for admins")),
		site.Post("/orphans/{orphan}", p.apiOrphanDecide, site.About("Delete or keep an orphaned machine"), site.Answers(http.StatusAccepted)),
		site.Put("/orphans-mode", p.apiOrphanMode, site.About("Set automatic cleanup of orphaned machines")),
		site.Get("/plugins", p.apiPluginList, site.About("List the plugins on the server and what was decided about them, for superadmins")),
		site.Put("/plugins/{name}", p.apiPluginRegister,
			site.About("Register a plugin that is on the server, by the SHA-256 of its file, for superadmins")),
		site.Delete("/plugins/{name}", p.apiPluginRemove, site.About("Remove a plugin: it isn't run any more, for superadmins")),
		site.Post("/providers/{name}/check", p.apiProviderCheck,
			site.About("Check a provider account, for admins; creates nothing"), site.Answers(http.StatusOK), site.Slow),
		site.Get("/providers/{name}/offers", p.apiProviderOffers, site.About("List a provider's zones, flavors and images, for admins"), site.Slow),
		site.Get("/settings", p.apiSettings, site.About("Show the server's settings and dependencies, for superadmins")),
		site.Get("/provider-health", p.apiProviderHealth, site.About("Show the health of provider accounts, for superadmins")),
		site.Get("/provisioners", p.apiProvisionerList, site.About("List provisioners, registered ones first")),
		site.Get("/provisioners/{name}", p.apiProvisionerShow, site.About("Show a provisioner: its tenants, load, last heartbeat, and the steps that its workers run")),
		site.Post("/provisioners/{name}/drain", p.apiProvisionerDrain, site.About("Drain a provisioner: it finishes its steps, then exits")),
		site.Get("/provisioner-tokens", p.apiProvisionerTokenList, site.About("List provisioner tokens")),
		site.Post("/provisioner-tokens", p.apiProvisionerTokenCreate, site.About("Create a provisioner token"), site.Answers(http.StatusCreated)),
		site.Delete("/provisioner-tokens/{name}", p.apiProvisionerTokenRevoke, site.About("Revoke a token and the provisioners that registered with it")),
	}
}

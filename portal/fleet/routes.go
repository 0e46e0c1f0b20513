package fleet

import (
	"net/http"

	"muster/app/fleet"
	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/settings", p.settingsShow),
		site.Show("/admin/provider-health", p.providerHealthShow),
		site.Show("/provisioners", p.provisionerList),
		site.Submit("/provisioners/{provisioner}/drain", p.provisionerDrain),
		site.Show("/orphans", p.orphanList),
		site.Submit("/orphans/mode", p.orphanMode),
		site.Submit("/orphans/{orphan}/delete", p.orphanDecide(fleet.DecideDelete)),
		site.Submit("/orphans/{orphan}/keep", p.orphanDecide(fleet.DecideKeep)),
		site.Show("/clusters/{id}/receipt", p.clusterReceipt),
	}
}

// AccountRoutes are pages about accounts of providers, beside those of the catalog.
func AccountRoutes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/catalog/provider/{name}/check", p.ProviderCheck).Within(surveyTime),
		site.Show("/admin/catalog/provider/{name}/offers", p.providerOffers).Within(surveyTime),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/receipt", p.apiReceipt, site.About("Tell what a cluster has had at its provider, and what that cost")),
		site.Get("/orphans", p.apiOrphanList, site.About("List orphaned machines, for admins")),
		site.Post("/orphans/{orphan}", p.apiOrphanDecide, site.About("Have an orphan deleted, or kept"), site.Answers(http.StatusAccepted)),
		site.Put("/orphans-mode", p.apiOrphanMode, site.About("Set what becomes of orphans by themselves")),
		site.Post("/providers/{name}/check", p.apiProviderCheck,
			site.About("Look whether a provider's account would do, for admins; nothing is made"), site.Answers(http.StatusOK), site.Slow),
		site.Get("/providers/{name}/offers", p.apiProviderOffers, site.About("Tell which zones, flavors and images a provider has, for admins"), site.Slow),
		site.Get("/settings", p.apiSettings, site.About("Tell how the server is set up and what it leans on, for superadmins")),
		site.Get("/provider-health", p.apiProviderHealth, site.About("Tell how provider accounts are to work with, for superadmins")),
		site.Get("/provisioners", p.apiProvisionerList, site.About("List the provisioners, those alive first")),
		site.Post("/provisioners/{name}/drain", p.apiProvisionerDrain, site.About("Let a provisioner end what it has, and then itself")),
		site.Get("/provisioner-tokens", p.apiProvisionerTokenList, site.About("List the tokens of provisioners")),
		site.Post("/provisioner-tokens", p.apiProvisionerTokenCreate, site.About("Make a token for provisioners"), site.Answers(http.StatusCreated)),
		site.Delete("/provisioner-tokens/{name}", p.apiProvisionerTokenRevoke, site.About("Revoke a token and all that registered with it")),
	}
}

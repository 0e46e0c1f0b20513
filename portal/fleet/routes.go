package fleet

import (
	"net/http"

	"muster/app/fleet"
	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/settings", p.SettingsShow),
		site.Show("/admin/provider-health", p.ProviderHealthShow),
		site.Show("/provisioners", p.ProvisionerList),
		site.Submit("/provisioners/{provisioner}/drain", p.ProvisionerDrain),
		site.Show("/orphans", p.OrphanList),
		site.Submit("/orphans/mode", p.OrphanMode),
		site.Submit("/orphans/{orphan}/delete", p.OrphanDecide(fleet.DecideDelete)),
		site.Submit("/orphans/{orphan}/keep", p.OrphanDecide(fleet.DecideKeep)),
		site.Show("/clusters/{id}/receipt", p.ClusterReceipt),
	}
}

// AccountRoutes are pages about accounts of providers, beside those of the catalog.
func AccountRoutes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/catalog/provider/{name}/check", p.ProviderCheck).Within(SurveyTime),
		site.Show("/admin/catalog/provider/{name}/offers", p.ProviderOffers).Within(SurveyTime),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/receipt", p.APIReceipt, site.About("Tell what a cluster has had at its provider, and what that cost")),
		site.Get("/orphans", p.APIOrphanList, site.About("List orphaned machines, for admins")),
		site.Post("/orphans/{orphan}", p.APIOrphanDecide, site.About("Have an orphan deleted, or kept"), site.Answers(http.StatusAccepted)),
		site.Put("/orphans-mode", p.APIOrphanMode, site.About("Set what becomes of orphans by themselves")),
		site.Post("/providers/{name}/check", p.APIProviderCheck,
			site.About("Look whether a provider's account would do, for admins; nothing is made"), site.Answers(http.StatusOK), site.Slow),
		site.Get("/providers/{name}/offers", p.APIProviderOffers, site.About("Tell which zones, flavors and images a provider has, for admins"), site.Slow),
		site.Get("/settings", p.APISettings, site.About("Tell how the server is set up and what it leans on, for superadmins")),
		site.Get("/provider-health", p.APIProviderHealth, site.About("Tell how provider accounts are to work with, for superadmins")),
		site.Get("/provisioners", p.APIProvisionerList, site.About("List the provisioners, those alive first")),
		site.Post("/provisioners/{name}/drain", p.APIProvisionerDrain, site.About("Let a provisioner end what it has, and then itself")),
		site.Get("/provisioner-tokens", p.APIProvisionerTokenList, site.About("List the tokens of provisioners")),
		site.Post("/provisioner-tokens", p.APIProvisionerTokenCreate, site.About("Make a token for provisioners"), site.Answers(http.StatusCreated)),
		site.Delete("/provisioner-tokens/{name}", p.APIProvisionerTokenRevoke, site.About("Revoke a token and all that registered with it")),
	}
}

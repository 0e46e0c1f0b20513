package audit

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/secrets", p.secretList),
		site.Submit("/admin/secrets", p.secretSet),
		site.Submit("/admin/secrets/{secret}/delete", p.secretDelete),
		site.Show("/admin/audit", p.List),
		site.Show("/admin/audit/export", p.Export).Stream(),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/secrets", p.apiSecretList, site.About("List the names of the tenant's secrets, for admins")),
		site.Put("/secrets/{name}", p.apiSecretSet, site.About("Set a secret: the body is its value"), site.Answers(http.StatusNoContent)),
		site.Delete("/secrets/{name}", p.apiSecretDelete, site.About("Delete a secret"), site.Answers(http.StatusNoContent)),
		site.Get("/audit", p.apiList, site.About("Read the audit, newest first")),
		site.Get("/audit/export", p.apiExport,
			site.About("Export the audit, oldest first"), site.Streaming, site.Files("Everything that was done", "application/x-ndjson", "text/csv")),
		site.Get("/audit/verify", p.apiVerify, site.About("Walk the chain of the audit and say whether it is whole")),
	}
}

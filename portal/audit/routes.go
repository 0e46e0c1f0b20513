package audit

import (
	"net/http"

	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/secrets", p.secretList),
		site.Submit("/admin/secrets", p.secretSet),
		site.Submit("/admin/secrets/{secret}/delete", p.secretDelete),
		site.Show("/admin/audit", p.List),
		site.Show("/admin/audit/export", p.Export).Stream(),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/secrets", p.apiSecretList, site.About("List the names of the tenant's secrets, for admins")),
		site.Put("/secrets/{name}", p.apiSecretSet, site.About("Set a secret to the request body"), site.Answers(http.StatusNoContent)),
		site.Delete("/secrets/{name}", p.apiSecretDelete, site.About("Delete a secret"), site.Answers(http.StatusNoContent)),
		site.Get("/audit", p.apiList, site.About("List audit log entries, newest first")),
		site.Get("/audit/export", p.apiExport,
			site.About("Export the audit log, oldest first"), site.Streaming, site.Files("Audit log entries", "application/x-ndjson", "text/csv")),
		site.Get("/audit/verify", p.apiVerify, site.About("Verify the audit log's hash chain")),
	}
}

package catalog

import "muster/portal/site"

// Routes are its pages. Their forms carry whole texts, and what was uploaded.
func Routes(p *Service) []site.Route {
	const kind = "/admin/catalog/{kind:template|service|image|hardware|provider}"
	return []site.Route{
		site.Show("/admin/catalog", p.List),
		site.Show("/admin/catalog/import", p.importShow),
		site.Submit("/admin/catalog/import", p.Import),
		site.Show("/admin/catalog/export", p.Export),
		site.Show(kind, p.List),
		site.Show(kind+"/new", p.Write),
		site.Submit(kind+"/new", p.Write),
		site.Show(kind+"/{name}", p.Show),
		site.Show(kind+"/{name}/edit", p.Write),
		site.Submit(kind+"/{name}/edit", p.Write),
		site.Show("/admin/catalog/{kind:template}/{name}/publish", p.Publish),
		site.Show(kind+"/{name}/remove", p.Remove),
		site.Submit(kind+"/{name}/remove", p.Remove),
		site.Show(kind+"/{name}/revert/{number}", p.revert),
		site.Submit(kind+"/{name}/revert/{number}", p.revert),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/catalog", p.apiList, site.About("List the entries of the tenant's catalog, for admins")),
		site.Get("/catalog/families", p.apiFamilies, site.About("Say which kinds of clouds and tools there are, with their fields")),
		site.Get("/catalog/export", p.apiExport, site.About("Get the tenant's own entries as files")),
		site.Post("/catalog/check", p.apiCheck, site.About("Say what a change of the tenant's catalog would do, and all that is wrong with it")),
		site.Post("/catalog/apply", p.apiApply, site.About("Change the tenant's catalog: all of it, or, where something is wrong, nothing")),
		site.Post("/catalog/try", p.apiTry, site.About("Work out what a create would do as if a change of the catalog were saved")),
		site.Get("/catalog/{kind}/{name}", p.apiShow, site.About("Show an entry of the tenant's catalog with its text")),
		site.Get("/catalog/{kind}/{name}/history", p.apiHistory, site.About("List the versions of an own entry")),
		site.Post("/catalog/{kind}/{name}/revert", p.apiRevert, site.About("Save an older version of an own entry again")),
	}
}

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
		site.Show("/admin/catalog/types", p.typeList),
		site.Show("/admin/catalog/types/{family:provider|automator}/{type}", p.typeShow),
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
		site.Get("/catalog", p.apiList, site.About("List catalog entries, for admins")),
		site.Get("/catalog/families", p.apiFamilies, site.About("List kinds of providers and automators with their fields")),
		site.Get("/provider-types", p.apiTypes(familyProvider), site.About("List provider types with their fields and resource types, for admins")),
		site.Get("/provider-types/{type}", p.apiType(familyProvider), site.About("Show a provider type")),
		site.Get("/automator-types", p.apiTypes(familyAutomator), site.About("List automator types with their fields and resource types, for admins")),
		site.Get("/automator-types/{type}", p.apiType(familyAutomator), site.About("Show an automator type")),
		site.Get("/catalog/export", p.apiExport, site.About("Export the tenant's own entries as files")),
		site.Post("/catalog/check", p.apiCheck, site.About("Validate and preview a change of the tenant's catalog")),
		site.Post("/catalog/apply", p.apiApply, site.About("Change the tenant's catalog, all or nothing")),
		site.Post("/catalog/try", p.apiTry, site.About("Preview a create with an unsaved change of the catalog")),
		site.Get("/catalog/{kind}/{name}", p.apiShow, site.About("Show a catalog entry with its YAML")),
		site.Get("/catalog/{kind}/{name}/history", p.apiHistory, site.About("List the versions of a tenant's own entry")),
		site.Post("/catalog/{kind}/{name}/revert", p.apiRevert, site.About("Revert a tenant's own entry to an older version")),
	}
}

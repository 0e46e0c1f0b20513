package template

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/templates", p.List),
		site.Show("/templates/{template}", p.Show),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/version", p.APIVersion, site.About("Get the server version")),
		site.Get("/templates", p.apiList, site.About("List templates")),
		site.Get("/templates/{name}", p.apiShow, site.About("Get a template with all its parts and their origins")),
		site.Get("/templates/{name}/versions", p.apiVersions, site.About("List the versions of a template, newest first")),
		site.Get("/templates/{name}/changes", p.apiDiff, site.About("Compare two versions of a template")),
	}
}

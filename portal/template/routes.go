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
		site.Get("/version", p.APIVersion, site.About("Which version this is")),
		site.Get("/templates", p.apiList, site.About("List the templates that clusters can be made from")),
		site.Get("/templates/{name}", p.apiShow, site.About("Show all that a template says, and where each part comes from")),
		site.Get("/templates/{name}/versions", p.apiVersions, site.About("List the versions of a template, newest first")),
		site.Get("/templates/{name}/changes", p.apiDiff, site.About("Tell how two versions of a template differ")),
	}
}

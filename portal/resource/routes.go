package resource

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/resources", p.List),
		site.Submit("/admin/resources", p.Push).Stream(), // as long as it takes, with a form that is never whole in memory
		site.Submit("/admin/resources/import", p.Import).Stream(),
		site.Redirect("/admin/resources/import", "/admin/resources"),
		site.Submit("/admin/resources/sync", p.Sync),
		site.Redirect("/admin/resources/sync", "/admin/resources"),
		site.Show("/admin/resources/{resource}", p.Show),
		site.Show("/admin/resources/{resource}/diff", p.Diff),
		site.Show("/admin/resources/{resource}/versions/{version}/content", p.download).Stream(),
		site.Submit("/admin/resources/{resource}/versions/{version}/{act:stage|recall|delete}", p.versionAct),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/resource-types", p.apiTypes, site.About("List the types of archives and files that automators and providers take")),
		site.Get("/resources", p.apiList, site.About("List archives and files for automators and providers, for admins")),
		site.Post("/resource-sync", p.apiSync,
			site.About("Put all that is staged into use, and take what is recalled out of it, at once"), site.Answers(http.StatusOK)),
		site.Get("/resources/{resource}", p.apiShow, site.About("Show a resource with its versions, who uses them and which provisioners have them")),
		site.Put("/resources/{resource}/content", p.apiPush, site.About("Push a new version: the body is its content"), site.Answers(http.StatusCreated), Content),
		site.Post("/resources/{resource}/import", p.apiImport, site.About("Push a new version from a git repository"), site.Answers(http.StatusCreated), site.Slow),
		site.Get("/resources/{resource}/diff", p.apiDiff, site.About("Tell how two versions differ, file by file")),
		site.Get("/resources/{resource}/versions/{version}/files", p.apiFiles, site.About("List what is in a version")),
		site.Get("/resources/{resource}/versions/{version}/content", p.apiContent, site.About("Download a version"), Content),
		site.Post("/resources/{resource}/versions/{version}/stage", p.apiStage,
			site.About("Have a version in use from the next sync on"), site.Answers(http.StatusOK)),
		site.Post("/resources/{resource}/versions/{version}/recall", p.apiRecall,
			site.About("Have a version out of use from the next sync on"), site.Answers(http.StatusOK)),
		site.Delete("/resources/{resource}/versions/{version}", p.apiDelete, site.About("Delete a version that is not in use"), site.Answers(http.StatusNoContent)),
	}
}

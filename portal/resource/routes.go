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
		site.Get("/resource-types", p.apiTypes, site.About("List resource types of automators and providers")),
		site.Get("/resources", p.apiList, site.About("List resources, for admins")),
		site.Post("/resource-sync", p.apiSync,
			site.About("Activate all staged versions and deactivate all recalled ones"), site.Answers(http.StatusOK)),
		site.Get("/resources/{resource}", p.apiShow, site.About("Show a resource with its versions, their usage and the provisioners that have them")),
		site.Put("/resources/{resource}/content", p.apiPush, site.About("Push a new version with the body as its content"), site.Answers(http.StatusCreated), Content),
		site.Post("/resources/{resource}/import", p.apiImport, site.About("Import a new version from a Git repository"), site.Answers(http.StatusCreated), site.Slow),
		site.Get("/resources/{resource}/diff", p.apiDiff, site.About("Compare two versions by file")),
		site.Get("/resources/{resource}/versions/{version}/files", p.apiFiles, site.About("List the files of a version")),
		site.Get("/resources/{resource}/versions/{version}/content", p.apiContent, site.About("Download a version"), Content),
		site.Post("/resources/{resource}/versions/{version}/stage", p.apiStage,
			site.About("Stage a version to activate it with the next sync"), site.Answers(http.StatusOK)),
		site.Post("/resources/{resource}/versions/{version}/recall", p.apiRecall,
			site.About("Recall a version to deactivate it with the next sync"), site.Answers(http.StatusOK)),
		site.Delete("/resources/{resource}/versions/{version}", p.apiDelete, site.About("Delete an inactive version"), site.Answers(http.StatusNoContent)),
	}
}

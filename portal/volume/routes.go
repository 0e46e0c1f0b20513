package volume

import (
	"net/http"

	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/volumes", p.List),
		site.Submit("/volumes/{volume}/delete", p.delete),
		site.Submit("/volumes/{volume}/extend", p.extend),
		site.Submit("/volumes/{volume}/snapshots", p.snapshot),
		site.Submit("/volumes/{volume}/schedule", p.setSchedule),
		site.Submit("/snapshots/{snapshot}/delete", p.deleteSnapshot),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/volumes", p.apiList, site.About("List your volumes, or those of a cluster; admins see everyone's")),
		site.Get("/volumes/{volume}", p.apiShow, site.About("Show a volume")),
		site.Patch("/volumes/{volume}", p.apiExtend, site.About("Change how long a kept volume is kept")),
		site.Delete("/volumes/{volume}", p.apiDelete, site.About("Delete a kept volume with all data on it"), site.Answers(http.StatusAccepted)),
		site.Get("/snapshots", p.apiSnapshots, site.About("List your snapshots of volumes; admins see everyone's")),
		site.Post("/volumes/{volume}/snapshots", p.apiSnapshot, site.About("Create a snapshot of a volume"), site.Answers(http.StatusAccepted)),
		site.Put("/volumes/{volume}/snapshot-schedule", p.apiSchedule,
			site.About("Set when snapshots of a volume are created, and how long they are kept")),
		site.Delete("/snapshots/{snapshot}", p.apiDeleteSnapshot, site.About("Delete a snapshot"), site.Answers(http.StatusAccepted)),
		site.Post("/volumes/{volume}/forget", p.apiForget, site.About("Forget a volume that no longer exists at its provider, so that its node gets an empty one")),
	}
}

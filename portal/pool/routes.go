package pool

import (
	"net/http"

	"muster/portal/site"
)

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/pools", p.List),
		site.Submit("/admin/pools", p.create),
		site.Show("/admin/pools/{pool}", p.Show),
		site.Submit("/admin/pools/{pool}", p.Change),
		site.Submit("/admin/pools/{pool}/drain", p.drain),
		site.Show("/admin/pools/{pool}/delete", p.deleteAsk),
		site.Submit("/admin/pools/{pool}/delete", p.Delete),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/pools", p.apiList, site.About("List pools of machines created ahead of time, for admins")),
		site.Post("/pools", p.apiCreate, site.About("Create a pool"), site.Answers(http.StatusCreated)),
		site.Get("/pools/{name}", p.apiShow, site.About("Show a pool with its machines")),
		site.Patch("/pools/{name}", p.apiChange, site.About("Change a pool's size, maximum age, or whether it is refilled")),
		site.Post("/pools/{name}/drain", p.apiDrain, site.About("Drain a pool: delete all its machines"), site.Answers(http.StatusAccepted)),
		site.Delete("/pools/{name}", p.apiDelete, site.About("Delete a pool and its machines"), site.Answers(http.StatusAccepted)),
		site.Get("/pools/{name}/receipt", p.apiReceipt, site.About("Show a pool's receipt: its machines and their cost")),
	}
}

package pool

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
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

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/pools", p.apiList, site.About("List the pools of machines that are made ahead of time, for admins")),
		site.Post("/pools", p.apiCreate, site.About("Have machines made ahead of time"), site.Answers(http.StatusCreated)),
		site.Get("/pools/{name}", p.apiShow, site.About("Show a pool with its machines")),
		site.Patch("/pools/{name}", p.apiChange, site.About("Change how many machines a pool has, how old they get, or whether it is refilled")),
		site.Post("/pools/{name}/drain", p.apiDrain, site.About("Give all machines of a pool back"), site.Answers(http.StatusAccepted)),
		site.Delete("/pools/{name}", p.apiDelete, site.About("Delete a pool: its machines are given back"), site.Answers(http.StatusAccepted)),
		site.Get("/pools/{name}/receipt", p.apiReceipt, site.About("Tell what a pool has had at its provider, and what that cost")),
	}
}

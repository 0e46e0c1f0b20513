package image

import (
	"net/http"

	"muster/portal/site"
)

// Service serves the page and REST operations of baked images.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/admin/images", p.list),
		site.Submit("/admin/images", p.bake),
		site.Submit("/admin/images/rules", p.setRule),
		site.Submit("/admin/images/delete", p.delete),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/images", p.apiList, site.About("List baked images and the rules by which they are built, for admins")),
		site.Post("/images", p.apiBake, site.About("Build the baked images of a template"), site.Answers(http.StatusAccepted)),
		site.Delete("/images/{image}", p.apiDelete, site.About("Delete a baked image"), site.Answers(http.StatusNoContent)),
		site.Put("/images/rules/{template}", p.apiSetRule, site.About("Build baked images of a template when it's used often")),
		site.Delete("/images/rules/{template}", p.apiDeleteRule, site.About("Stop building baked images of a template"), site.Answers(http.StatusNoContent)),
	}
}

package home

import "muster/portal/site"

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/", p.Home),
		site.Show("/home/cost", p.Cost),
		site.Show("/home/quota", p.Quota),
		site.Show("/search", p.Search),
		site.Show("/admin", p.adminHome),
	}
}

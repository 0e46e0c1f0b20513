package fleet

import (
	"muster/portal/catalog"
	"muster/portal/site"
)

// Service serves the pages and REST operations of provisioners, providers and their machines.
type Service struct {
	*site.Site

	catalog *catalog.Service
	CA      string
}

// New returns the service.
func New(s *site.Site, catalog *catalog.Service) *Service { return &Service{Site: s, catalog: catalog} }

package pool

import "muster/portal/site"

// Service serves the pages and REST operations of pools.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

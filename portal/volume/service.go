package volume

import "muster/portal/site"

// Service serves the page and REST operations of volumes.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

package webhook

import "muster/portal/site"

// Service serves the pages and REST operations of webhooks.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

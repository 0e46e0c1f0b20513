package audit

import "muster/portal/site"

// Service serves the pages and REST operations of the audit log and of secrets.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

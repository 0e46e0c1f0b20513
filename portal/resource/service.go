package resource

import "muster/portal/site"

// Service serves the pages and REST operations of archives and files.
type Service struct {
	*site.Site
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

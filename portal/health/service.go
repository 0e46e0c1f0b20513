package health

import "muster/portal/site"

// Service serves the pages about the health of clusters.
type Service struct {
	*site.Site
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

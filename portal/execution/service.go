package execution

import "muster/portal/site"

// Service serves the pages of queues and the REST operations of manual steps.
type Service struct {
	*site.Site
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

package identity

import "muster/portal/site"

// Service serves sign-in, accounts, and the pages and REST operations of tenants, users, groups and tokens.
type Service struct {
	*site.Site

	Attempts *attempts
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

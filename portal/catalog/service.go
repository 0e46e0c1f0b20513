package catalog

import "muster/portal/site"

// Service serves the pages and REST operations of the catalog.
type Service struct {
	*site.Site

	schema entrySchema
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

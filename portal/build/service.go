package build

import (
	"github.com/danielgtaylor/huma/v2"
	"muster/portal/site"
)

// Service serves the pages and REST operations of build hooks.
type Service struct {
	*site.Site

	// HooksDocument describes what is below /hooks; nil where there are no builds.
	HooksDocument *huma.OpenAPI
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s} }

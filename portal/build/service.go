package build

import (
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// Service serves the pages and REST operations of build hooks.
type Service struct {
	*site.Site

	// HooksDocument describes what is below /hooks.
	HooksDocument *huma.OpenAPI
}

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{Site: s, HooksDocument: Document()} }

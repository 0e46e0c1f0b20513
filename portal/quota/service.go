package quota

import (
	"github.com/go-chi/httprate"
	"muster/portal/site"
)

// Service serves the pages and REST operations of quotas and usage.
type Service struct {
	*site.Site

	Limiter   *httprate.RateLimiter // nil: no limit
	PerMinute int
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

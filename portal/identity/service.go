package identity

import (
	"time"

	"muster/portal/site"
)

// Service serves the pages and REST operations of people, noun by noun.
type Service struct {
	Attempts *attempts // to sign in that failed
	StepUps  *stepUps

	signIns        *passwordSignIn
	providers      *providers
	accounts       *accounts
	factors        *factors
	devices        *devices
	tokens         *tokens
	users          *users
	groups         *groups
	tenants        *tenants
	tenantSettings *tenantSettings
}

// New returns the service.
func New(s *site.Site) *Service {
	tried := NewAttempts(func() time.Time { return s.Now() })
	l := &limiter{Site: s, attempts: tried}
	proofs := &stepUps{Site: s, limiter: l}
	return &Service{
		Attempts: tried, StepUps: proofs,
		signIns:        &passwordSignIn{Site: s, limiter: l},
		providers:      &providers{Site: s, attempts: tried, stepUps: proofs},
		accounts:       &accounts{Site: s, limiter: l},
		factors:        &factors{Site: s},
		devices:        &devices{Site: s, attempts: tried},
		tokens:         &tokens{Site: s},
		users:          &users{Site: s},
		groups:         &groups{Site: s},
		tenants:        &tenants{Site: s},
		tenantSettings: &tenantSettings{Site: s},
	}
}

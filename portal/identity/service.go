package identity

import (
	"time"

	"muster/portal/site"
)

// Service serves the pages and REST operations of people, noun by noun.
type Service struct {
	Attempts *attempts // to sign in that failed
	StepUps  *stepUps

	parts []part
}

// part serves the pages and REST operations of a noun; either can be nil.
type part interface {
	routes() []site.Route
	operations() []site.Operation
}

// New returns the service.
func New(s *site.Site) *Service {
	tried := NewAttempts(func() time.Time { return s.Now() })
	l := &limiter{Site: s, attempts: tried}
	proofs := &stepUps{Site: s, limiter: l}
	elsewhere := &providers{Site: s, attempts: tried, stepUps: proofs}
	return &Service{Attempts: tried, StepUps: proofs, parts: []part{
		&passwordSignIn{Site: s, limiter: l, providers: elsewhere},
		elsewhere,
		proofs,
		&accounts{Site: s, limiter: l},
		&factors{Site: s},
		&devices{Site: s, attempts: tried},
		&tokens{Site: s},
		&users{Site: s},
		&groups{Site: s},
		&tenants{Site: s},
		&tenantSettings{Site: s},
	}}
}

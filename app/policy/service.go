package policy

import (
	"time"

	"muster/app/layout"
)

// Store is what the service needs of the database.
type Store interface {
	PaceStore
	PolicyStore
	QuotaStore
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time

	// Policies evaluates policies; nil: a tenant with policies gets everything refused.
	Policies PolicyEngine
}

// Service decides what may be asked for: policies and quotas.
type Service struct {
	Config

	quotas layout.SlowAnswers[quotaKey, []QuotaUse]
	lefts  layout.SlowAnswers[leftKey, []QuotaLine]
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.quotas.Large, s.lefts.Large = manyUsed, manyOf
	return s
}

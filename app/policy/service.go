package policy

import "muster/app"

// Store is what the service needs of the database.
type Store interface {
	PaceStore
	PolicyStore
	QuotaStore
}

// Service decides what may be asked for: policies and quotas.
type Service struct {
	*app.App
	Store Store

	// Policies evaluates policies; nil: a tenant with policies gets everything refused.
	Policies PolicyEngine
	quotas   app.SlowAnswers[quotaKey, []QuotaUse]
	lefts    app.SlowAnswers[leftKey, []app.QuotaLine]
}

// New returns the service on top of its needs.
func New(a *app.App, store Store) *Service {
	s := &Service{App: a, Store: store}
	s.quotas.Large, s.lefts.Large = manyUsed, manyOf
	return s
}

package webhook

import "muster/app"

// Store is what the service needs of the database.
type Store interface {
	HookStore
}

// Service keeps the hooks that tell other systems what happens, and their deliveries.
type Service struct {
	*app.App
	Store Store

	HookGuard HookGuard // where hooks may lead; nil: anywhere over https
}

// New returns the service on top of its needs.
func New(a *app.App, store Store) *Service {
	return &Service{App: a, Store: store}
}

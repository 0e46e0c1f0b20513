package secret

import (
	"muster/app"
	"muster/app/catalog"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	app.SecretStore
}

// Service keeps values that are written and never shown, and hides them in what is shown.
type Service struct {
	*app.App
	Store Store

	catalogs *catalog.Service

	masks masks
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, catalogs *catalog.Service) *Service {
	return &Service{App: a, Store: store, catalogs: catalogs}
}

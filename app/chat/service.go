package chat

import (
	"muster/app"
	"muster/app/identity"
	"muster/app/secret"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	ChatFaceStore
	ChatReviewStore
	ChatStore
	ChatWorkspaceStore
	identity.IdentityStore
	app.RequestStore
	app.TenantStore
}

// Service serves chat workspaces and their channels.
type Service struct {
	*app.App
	Store Store

	secrets *secret.Service
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, secrets *secret.Service) *Service {
	return &Service{App: a, Store: store, secrets: secrets}
}

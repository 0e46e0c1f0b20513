package identity

import (
	"muster/app"
	"muster/app/catalog"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	AuditStore
	DeviceStore
	GroupStore
	IdentityStore
	app.ProvisionerStore
	SecondFactorStore
	SessionStore
	SignInStore
	SubjectStore
	app.TenantStore
	TokenStore
	UserStore
}

// Service knows tenants, users, groups, tokens, sessions and how people sign in, and keeps the audit log.
type Service struct {
	*app.App
	Store Store

	catalogs *catalog.Service

	WorkerKeys workerKey
	refused    refusals
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, catalogs *catalog.Service) *Service {
	return &Service{App: a, Store: store, catalogs: catalogs}
}

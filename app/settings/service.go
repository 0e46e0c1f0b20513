package settings

import (
	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/webhook"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	app.BuildStore
	identity.GroupStore
	webhook.HookStore
	catalog.OwnCatalogStore
	policy.PolicyStore
	app.PoolStore
	policy.QuotaStore
	resource.ResourceStore
	identity.SecondFactorStore
	app.SecretStore
	cluster.SharingStore
	TenantSettingsStore
	app.TenantStore
	identity.UserStore
}

// Service exports and imports the settings of a tenant.
type Service struct {
	*app.App
	Store Store

	catalogs *catalog.Service
	secrets  *secret.Service
	people   *identity.Service
	hooks    *webhook.Service
	policies *policy.Service
	pools    *pool.Service
	builds   *build.Service

	// TenantFiles reads and writes what a tenant's settings are kept in; nil: they are neither exported nor imported.
	TenantFiles TenantFiles
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, catalogs *catalog.Service, secrets *secret.Service, people *identity.Service, hooks *webhook.Service, policies *policy.Service, pools *pool.Service, builds *build.Service) *Service {
	return &Service{App: a, Store: store, catalogs: catalogs, secrets: secrets, people: people, hooks: hooks, policies: policies, pools: pools, builds: builds}
}

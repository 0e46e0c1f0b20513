package catalog

import "muster/app"

// Store is what the service needs of the database.
type Store interface {
	app.Store
	CatalogStore
	app.OrphanStore
	OwnCatalogStore
	app.SecretStore
	app.TenantStore
}

// Service knows the entries of the catalog, of the installation and of tenants, with their versions and prices.
type Service struct {
	*app.App
	Store Store

	// Reader understands what tenants lay over it; nil: they cannot.
	Reader   CatalogReader
	prices   templatePrices
	catalogs tenantCatalogs
}

// New returns the service on top of its needs.
func New(a *app.App, store Store) *Service {
	return &Service{App: a, Store: store}
}

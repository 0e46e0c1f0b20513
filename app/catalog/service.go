package catalog

import (
	"context"
	"muster/app"
)

// Store is what the service needs of the database.
type Store interface {
	CatalogStore
	OwnCatalogStore

	// Of what others keep.
	IntentsOf(ctx context.Context, provider string) (map[string]app.LiveIntent, error)
	Secrets(ctx context.Context, tenant string) ([]app.Secret, error)
	TenantNames(ctx context.Context) ([]string, error)
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

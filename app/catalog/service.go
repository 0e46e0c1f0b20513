package catalog

import (
	"context"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
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

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store  Store
	Solver layout.Solver
	Now    func() time.Time
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog
	// SharesHost says why machines of a provider would be processes of this host, with the rights of the server's user; "" where they are
	// not, or where only the host that makes them can tell. Nil: none are.
	SharesHost func(ctx context.Context, spec template.ProviderSpec) string
	// TenantHostAccess lets admins of tenants run what they wrote on machines that are on Muster's own hosts.
	TenantHostAccess bool

	// Reader understands what tenants lay over it; nil: they cannot.
	Reader CatalogReader
}

// Service knows the entries of the catalog, of the installation and of tenants, with their versions and prices.
type Service struct {
	Config

	prices   templatePrices
	catalogs tenantCatalogs
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}

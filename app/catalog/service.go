package catalog

import (
	"cmp"
	"context"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// TenantCatalogStore keeps the own entries of tenants.
type TenantCatalogStore interface {
	// TenantCatalog returns the newest versions of a tenant's own entries, those that are gone left out, in order, and the revision.
	TenantCatalog(ctx context.Context, tenant string) ([]Revision, int64, error)
	// TenantCatalogHistory returns versions of an entry, newest first, with text, at most limit.
	TenantCatalogHistory(ctx context.Context, tenant string, k template.CatalogKey, limit int) ([]Revision, error)
	// TenantCatalogRevision returns the number that grows with every change of a tenant's own entries; 0 where there never was one. Tenant ""
	// returns one that grows with the changes of all.
	TenantCatalogRevision(ctx context.Context, tenant string) (int64, error)
	// CatalogHead is TenantCatalogRevision of a tenant, with its currency; "" and 0 where it has the installation's.
	CatalogHead(ctx context.Context, tenant string) (int64, template.Exchange, error)
	// TenantCatalogVersion returns one; ENotFound where there is none.
	TenantCatalogVersion(ctx context.Context, tenant string, k template.CatalogKey, number int) (Revision, error)
	// TenantProviders returns the newest versions of own providers, of all tenants.
	TenantProviders(ctx context.Context) (map[string][]Revision, error)
	// SaveTenantCatalog writes new versions, with their audit, and returns the new revision. EConflict, reason catalog_moved, where the tenant's
	// catalog is not of the revision that the change was worked out on; reason catalog_changed where one of the entries has changed since
	// AsOf; reason in_use where something is at one of Accounts.
	SaveTenantCatalog(ctx context.Context, who app.Actor, s TenantCatalogSave) (revision int64, err error)
}

// VersionStore keeps every state in which entries were published.
type VersionStore interface {
	// RecordCatalog writes those of the versions that are not what was last written of their entries, with their numbers. It returns
	// how many.
	RecordCatalog(ctx context.Context, versions []template.CatalogVersion) (int, error)
	// RecordTemplates keeps what templates of a tenant are that are made of own entries, where that is not what was kept last.
	RecordTemplates(ctx context.Context, tenant string, versions []template.CatalogVersion) error
	// TemplateHistory returns the versions of a template as a tenant sees them: those of the installation, and its own. Newest first, numbered
	// by their time.
	TemplateHistory(ctx context.Context, tenant, name string, text bool) ([]template.CatalogVersion, error)
}

// UseStore knows what uses entries, and what entries use.
type UseStore interface {
	// CatalogUse counts the tenant's live clusters up to MaxCounted of each.
	CatalogUse(ctx context.Context, tenant string) (Use, error)
	IntentsOf(ctx context.Context, provider string) (map[string]app.LiveIntent, error)
	// ProviderUse tells what of a tenant is at a provider.
	ProviderUse(ctx context.Context, tenant, provider string) (ProviderUse, error)
	Secrets(ctx context.Context, tenant string) ([]app.Secret, error)
	TenantNames(ctx context.Context) ([]string, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Own      TenantCatalogStore
	Versions VersionStore
	Uses     UseStore
	Now      func() time.Time
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog
	// Reader understands what tenants lay over it; nil: they cannot.
	Reader Reader
	// SharesHost says why machines of a provider would be processes of this host, with the rights of the server's user; "" where they are
	// not, or where only the host that makes them can tell. Nil: none are.
	SharesHost func(ctx context.Context, spec template.ProviderSpec) string
	// RemovedType says why a type of provider isn't used any more; nil: none was removed.
	RemovedType func(typ string) error
	Solver      layout.Solver
	// TenantHostAccess lets admins of tenants run what they wrote on machines that are on Muster's own hosts.
	TenantHostAccess bool
	// Currency is the installation's, by ISO 4217; "" is template.DefaultCurrency.
	Currency string
}

// Service knows the entries of the catalog, of the installation and of tenants, with their versions and prices.
type Service struct {
	Config

	prices   templatePrices
	catalogs catalogCache
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	c.Currency = cmp.Or(c.Currency, template.DefaultCurrency)
	return &Service{Config: c}
}

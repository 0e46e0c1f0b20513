package site

import (
	"context"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
)

// Catalogs shows a tenant's catalog and, for admins, changes its own entries.
type Catalogs interface {
	Catalog(ctx context.Context, a app.Actor) (*template.Catalog, error)
	// CatalogItems lists entries; kind "" is all. Query filters by name, label or description.
	CatalogItems(ctx context.Context, a app.Actor, kind, query string) ([]catalog.Item, error)
	// CatalogSource returns an entry with its YAML; ENotFound if there is none.
	CatalogSource(ctx context.Context, a app.Actor, k template.CatalogKey) (catalog.Source, error)
	// CatalogHistory returns the versions of an own entry, newest first, possibly none.
	CatalogHistory(ctx context.Context, a app.Actor, k template.CatalogKey) ([]catalog.Revision, error)
	// CheckCatalog previews a change.
	CheckCatalog(ctx context.Context, a app.Actor, c catalog.Change) (catalog.Report, error)
	// ApplyCatalog saves a change, all or nothing. Invalid YAML isn't an error but a problem in the report, which isn't Saved then. EConflict,
	// reason catalog_changed, if someone saved meanwhile.
	ApplyCatalog(ctx context.Context, a app.Actor, c catalog.Change) (catalog.Report, error)
	// RevertCatalog reverts to an older version.
	RevertCatalog(ctx context.Context, a app.Actor, k template.CatalogKey, number int, note string) (catalog.Report, error)
	// ExportCatalog returns own entries as files; with all, shared ones too.
	ExportCatalog(ctx context.Context, a app.Actor, all bool) ([]catalog.File, error)
	// CatalogFamilies describes providers and automators.
	CatalogFamilies(ctx context.Context, a app.Actor) (catalog.Families, error)
}

// Trials previews requests with unsaved YAML.
type Trials interface {
	// TryCatalog solves and plans a request as if the change were saved.
	TryCatalog(ctx context.Context, a app.Actor, c catalog.Change, r cluster.CreateRequest) (cluster.Preview, error)
	// ExplainCatalog returns an empty explanation for a request that has a layout.
	ExplainCatalog(ctx context.Context, a app.Actor, c catalog.Change, r cluster.CreateRequest) (layout.Explanation, error)
}

// Templates shows templates and their versions.
type Templates interface {
	Template(ctx context.Context, a app.Actor, name string) (catalog.TemplateView, error)
	TemplateVersions(ctx context.Context, a app.Actor, name string) ([]catalog.TemplateVersion, error)
	// TemplateChanges compares two versions; to 0 is the newest, from 0 the one before to.
	TemplateChanges(ctx context.Context, a app.Actor, name string, from, to int) (catalog.TemplateDiff, error)
	TemplatePrices(ctx context.Context, a app.Actor) (map[string]float64, error)
}

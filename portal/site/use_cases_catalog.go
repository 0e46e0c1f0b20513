package site

import (
	"context"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
)

// Catalogs are what a tenant sees, and what it lays over the installation's catalog, which is for admins.
type Catalogs interface {
	Catalog(ctx context.Context, a app.Actor) (*template.Catalog, error)
	// CatalogItems lists entries; kind "" is all. Query narrows by name, label or description.
	CatalogItems(ctx context.Context, a app.Actor, kind, query string) ([]catalog.CatalogItem, error)
	// CatalogSource returns one entry with its text; ENotFound where there is none.
	CatalogSource(ctx context.Context, a app.Actor, k template.CatalogKey) (catalog.CatalogSource, error)
	// CatalogHistory returns the versions of an own entry, newest first; none is no error.
	CatalogHistory(ctx context.Context, a app.Actor, k template.CatalogKey) ([]catalog.CatalogRevision, error)
	// CheckCatalog says what a change would do. Nothing is saved.
	CheckCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange) (catalog.CatalogReport, error)
	// ApplyCatalog saves it, all or nothing. Wrong texts are no error but problems of the report, which is not Saved then. EConflict, reason
	// catalog_changed, where someone has saved meanwhile.
	ApplyCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange) (catalog.CatalogReport, error)
	// RevertCatalog saves an older version again.
	RevertCatalog(ctx context.Context, a app.Actor, k template.CatalogKey, number int, note string) (catalog.CatalogReport, error)
	// ExportCatalog returns own entries as files; with all, the installation's too.
	ExportCatalog(ctx context.Context, a app.Actor, all bool) ([]catalog.CatalogFile, error)
	// CatalogFamilies says what entries can be made of.
	CatalogFamilies(ctx context.Context, a app.Actor) (catalog.Families, error)
}

// Trials say what a request would come to with texts that are not saved.
type Trials interface {
	// TryCatalog solves and plans a request as if the change were saved.
	TryCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange, r cluster.ClusterRequest) (cluster.Preview, error)
	// ExplainCatalog returns an empty explanation for a request that has a layout.
	ExplainCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange, r cluster.ClusterRequest) (layout.Explanation, error)
}

// Templates say all about templates, and keep their versions.
type Templates interface {
	Template(ctx context.Context, a app.Actor, name string) (catalog.TemplateView, error)
	TemplateVersions(ctx context.Context, a app.Actor, name string) ([]catalog.TemplateVersion, error)
	// TemplateChanges compares two versions; to 0 is the newest, from 0 the one before to.
	TemplateChanges(ctx context.Context, a app.Actor, name string, from, to int) (catalog.TemplateDiff, error)
	TemplatePrices(ctx context.Context, a app.Actor) (map[string]float64, error)
}

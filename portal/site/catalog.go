package site

import (
	"context"

	"muster/app"
	"muster/app/catalog"
)

// Cataloging is a power that a Muster may have: to look after what a tenant lays over the installation's catalog. All of it is for admins.
// A portal without it, or without something that reads texts, has no pages of the catalog.
type Cataloging interface {
	// CatalogItems lists entries; kind "" is all. Query narrows by name, label or description.
	CatalogItems(ctx context.Context, a app.Actor, kind, query string) ([]catalog.CatalogItem, error)
	// CatalogSource gives one entry with its text; ENotFound where there is none.
	CatalogSource(ctx context.Context, a app.Actor, k app.CatalogKey) (catalog.CatalogSource, error)
	// CatalogHistory gives the versions of an own entry, newest first; none is no error.
	CatalogHistory(ctx context.Context, a app.Actor, k app.CatalogKey) ([]catalog.CatalogRevision, error)
	// CheckCatalog says what a change would do. Nothing is saved.
	CheckCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange) (catalog.CatalogReport, error)
	// ApplyCatalog saves it, all or nothing. Wrong texts are no error but problems of the report, which is not Saved then. EConflict, reason
	// catalog_changed, where somebody has saved meanwhile.
	ApplyCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange) (catalog.CatalogReport, error)
	// RevertCatalog saves an older version again.
	RevertCatalog(ctx context.Context, a app.Actor, k app.CatalogKey, number int, note string) (catalog.CatalogReport, error)
	// TryCatalog solves and plans a request as if the change were saved.
	TryCatalog(ctx context.Context, a app.Actor, c catalog.CatalogChange, r app.ClusterRequest) (app.Preview, error)
	// ExportCatalog gives own entries as files; with all, the installation's too.
	ExportCatalog(ctx context.Context, a app.Actor, all bool) ([]catalog.CatalogFile, error)
	// CatalogFamilies says what entries can be made of.
	CatalogFamilies(ctx context.Context, a app.Actor) (catalog.Families, error)
}

// Cataloging gives the power; nil where there is none.
func (p *Site) Cataloging() Cataloging {
	c, _ := p.Muster.(Cataloging)
	if p.Texts == nil {
		return nil
	}
	return c
}

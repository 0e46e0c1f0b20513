package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/template"
)

func entryPath(k template.CatalogKey) string {
	return "/catalog/" + url.PathEscape(k.Kind) + "/" + url.PathEscape(k.Name)
}

// Catalog is the tenant's catalog.
type Catalog part

// List lists catalog entries by kind and search text; "" matches all.
func (c *Catalog) List(ctx context.Context, kind, query string) ([]catalog.Item, error) {
	var out struct{ Items []catalog.Item }
	err := c.client.CallInto(ctx, "/catalog", url.Values{"kind": {kind}, "query": {query}}, &out)
	return out.Items, err
}

// Get returns an entry's YAML.
func (c *Catalog) Get(ctx context.Context, k template.CatalogKey) (s catalog.Source, err error) {
	err = c.client.CallInto(ctx, entryPath(k), nil, &s)
	return s, err
}

// History returns the versions of a tenant's own entry, newest first.
func (c *Catalog) History(ctx context.Context, k template.CatalogKey) ([]catalog.Revision, error) {
	var out struct{ Versions []catalog.Revision }
	err := c.client.CallInto(ctx, entryPath(k)+"/history", nil, &out)
	return out.Versions, err
}

// Change validates a change, and applies it if save is set.
func (c *Catalog) Change(ctx context.Context, change catalog.Change, save bool) (r catalog.Report, err error) {
	path := "/catalog/check"
	if save {
		path = "/catalog/apply"
	}
	err = c.client.Call(ctx, http.MethodPost, path, nil, change, &r)
	return r, err
}

// Revert reverts an own entry to an older version; number 0 removes it.
func (c *Catalog) Revert(ctx context.Context, k template.CatalogKey, number int, note string) (r catalog.Report, err error) {
	err = c.client.Call(ctx, http.MethodPost, entryPath(k)+"/revert", nil, map[string]any{"number": number, "note": note}, &r)
	return r, err
}

// Try previews a cluster with an unsaved change.
func (c *Catalog) Try(ctx context.Context, change catalog.Change, request cluster.CreateRequest) (p cluster.Preview, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/catalog/try", nil, map[string]any{"change": change, "request": request}, &p)
	return p, err
}

// Export returns the tenant's own entries as files; with all, those of the shared catalog too.
func (c *Catalog) Export(ctx context.Context, all bool) ([]catalog.File, error) {
	q := url.Values{}
	if all {
		q.Set("all", "true")
	}
	var out struct{ Files []catalog.File }
	err := c.client.CallInto(ctx, "/catalog/export", q, &out)
	return out.Files, err
}

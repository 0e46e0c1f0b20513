package all

import (
	"context"

	"muster/app/catalog"
	"muster/app/label"
)

// labelRules reads what templates say of labels from a tenant's catalog.
func labelRules(catalogs *catalog.Service) func(ctx context.Context, tenant, template string) (*label.Rules, error) {
	return func(ctx context.Context, tenant, template string) (*label.Rules, error) {
		c, err := catalogs.CatalogOf(ctx, tenant)
		if err != nil {
			return nil, err
		}
		t := c.Templates[template]
		if t == nil {
			return nil, nil
		}
		return t.Labels, nil
	}
}

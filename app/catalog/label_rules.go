package catalog

import (
	"context"

	"muster/app/label"
)

// LabelRules returns what a template says of labels, as it is now; nil where it says nothing, or is no longer in the catalog.
func (a *Service) LabelRules(ctx context.Context, tenant, template string) (*label.Rules, error) {
	c, err := a.CatalogOf(ctx, tenant)
	if err != nil {
		return nil, err
	}
	t := c.Templates[template]
	if t == nil {
		return nil, nil
	}
	return t.Labels, nil
}

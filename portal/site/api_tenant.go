package site

import (
	"context"

	"muster/app"
)

// ActingIn returns the actor in the tenant that a request names.
func (p *Site) ActingIn(ctx context.Context, a app.Actor, tenant string) (app.Actor, error) {
	if tenant == "" || tenant == a.Tenant {
		return a, nil
	}
	return p.Tenants.ActIn(ctx, a, tenant)
}

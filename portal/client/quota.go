package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/policy"
)

// Quotas are limits for users and groups.
type Quotas part

// List lists quotas with their usage.
func (c *Quotas) List(ctx context.Context) ([]policy.QuotaUse, error) {
	var out struct {
		Quotas []policy.QuotaUse `json:"quotas"`
	}
	err := c.client.CallInto(ctx, "/quotas", nil, &out)
	return out.Quotas, err
}

// Set sets or replaces a quota.
func (c *Quotas) Set(ctx context.Context, q policy.Quota) (u policy.QuotaUse, err error) {
	err = c.client.Call(ctx, http.MethodPut, "/quotas", nil, map[string]any{"scope": q.Scope, "name": q.Name, "limits": q.Limits}, &u)
	return u, err
}

// Delete deletes a quota.
func (c *Quotas) Delete(ctx context.Context, scope policy.QuotaScope, name string) error {
	q := url.Values{"scope": {string(scope)}}
	if name != "" {
		q.Set("name", name)
	}
	return c.client.Call(ctx, http.MethodDelete, "/quotas", q, nil, nil)
}

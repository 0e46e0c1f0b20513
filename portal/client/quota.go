package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/policy"
)

// Quotas lists quotas with how much of each is used.
func (c *Client) Quotas(ctx context.Context) ([]policy.QuotaUse, error) {
	var out struct {
		Quotas []policy.QuotaUse `json:"quotas"`
	}
	err := c.CallInto(ctx, "/quotas", nil, &out)
	return out.Quotas, err
}

// SetQuota sets a quota in place of the one that was there.
func (c *Client) SetQuota(ctx context.Context, q policy.Quota) (u policy.QuotaUse, err error) {
	err = c.Call(ctx, http.MethodPut, "/quotas", nil, map[string]any{"scope": q.Scope, "name": q.Name, "limits": q.Limits}, &u)
	return u, err
}

// DeleteQuota lifts a quota.
func (c *Client) DeleteQuota(ctx context.Context, scope policy.QuotaScope, name string) error {
	q := url.Values{"scope": {string(scope)}}
	if name != "" {
		q.Set("name", name)
	}
	return c.Call(ctx, http.MethodDelete, "/quotas", q, nil, nil)
}

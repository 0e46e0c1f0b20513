package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"muster/app/webhook"
	"muster/portal/wire"
)

func hookPath(name string, rest ...string) string {
	return strings.Join(append([]string{"/webhooks", url.PathEscape(name)}, rest...), "/")
}

// Webhooks receive a tenant's events.
type Webhooks part

// List lists webhooks.
func (c *Webhooks) List(ctx context.Context) ([]webhook.Endpoint, error) {
	var out struct {
		Hooks []webhook.Endpoint `json:"webhooks"`
	}
	err := c.client.CallInto(ctx, "/webhooks", nil, &out)
	return out.Hooks, err
}

// Save creates or updates a webhook.
func (c *Webhooks) Save(ctx context.Context, r webhook.EndpointRequest) (s webhook.SavedEndpoint, err error) {
	err = c.client.Call(ctx, http.MethodPut, hookPath(r.Name), nil, r, &s)
	return s, err
}

// Delete deletes a webhook with its deliveries.
func (c *Webhooks) Delete(ctx context.Context, name string) error {
	return c.client.Call(ctx, http.MethodDelete, hookPath(name), nil, nil, nil)
}

// Test sends a test notification and returns the result.
func (c *Webhooks) Test(ctx context.Context, name string) (d webhook.Delivery, err error) {
	err = c.client.Call(ctx, http.MethodPost, hookPath(name, "test"), nil, nil, &d)
	return d, err
}

// Deliveries lists deliveries before one, newest first; next is 0 at the end.
func (c *Webhooks) Deliveries(ctx context.Context, name string, before int64, limit int) (list []webhook.Delivery, next int64, err error) {
	var out struct {
		Deliveries []webhook.Delivery `json:"deliveries"`
		Next       int64              `json:"next"`
	}
	q := url.Values{"limit": {strconv.Itoa(limit)}, "before": {strconv.FormatInt(before, 10)}}
	err = c.client.CallInto(ctx, hookPath(name, "deliveries"), q, &out)
	return out.Deliveries, out.Next, err
}

// Delivery returns a delivery with all responses.
func (c *Webhooks) Delivery(ctx context.Context, name string, id int64) (d webhook.Delivery, err error) {
	err = c.client.CallInto(ctx, hookPath(name, "deliveries", strconv.FormatInt(id, 10)), nil, &d)
	return d, err
}

// Resend sends a delivery again, with the same message ID.
func (c *Webhooks) Resend(ctx context.Context, name string, id int64) (d webhook.Delivery, err error) {
	err = c.client.Call(ctx, http.MethodPost, hookPath(name, "deliveries", strconv.FormatInt(id, 10), "resend"), nil, nil, &d)
	return d, err
}

// Notices are notifications.
type Notices part

// List lists the caller's notifications before a number, newest first; 0 starts with the newest. Next is the next page, 0 at the end.
func (c *Notices) List(ctx context.Context, before int64, limit int) (list []wire.Notice, next int64, err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	var out struct {
		Notices []wire.Notice `json:"notifications"`
		Next    int64         `json:"next"`
	}
	err = c.client.CallInto(ctx, "/notifications", q, &out)
	return out.Notices, out.Next, err
}

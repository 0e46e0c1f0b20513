package client

import (
	"context"
	"muster/app/policy"
	"net/http"
	"net/url"
)

// Policies decide which requests need approval.
type Policies part

// List lists policies in evaluation order.
func (c *Policies) List(ctx context.Context) (out PolicyList, err error) {
	err = c.client.CallInto(ctx, "/policies", nil, &out)
	return out, err
}

// PolicyList is the server's response.
type PolicyList struct {
	TimeZone  string            `json:"time_zone"`
	Policies  []policy.Policy   `json:"policies"`
	Variables []policy.Variable `json:"variables"`
}

// Versions returns the versions of a policy, newest first.
func (c *Policies) Versions(ctx context.Context, name string) ([]policy.Policy, error) {
	var out struct {
		Versions []policy.Policy `json:"versions"`
	}
	err := c.client.CallInto(ctx, "/policies/"+url.PathEscape(name), nil, &out)
	return out.Versions, err
}

// Save saves a policy as its next version.
func (c *Policies) Save(ctx context.Context, p policy.Policy) (saved policy.Policy, err error) {
	err = c.client.Call(ctx, http.MethodPut, "/policies/"+url.PathEscape(p.Name), nil, p, &saved)
	return saved, err
}

// Delete deletes a policy, but not its versions.
func (c *Policies) Delete(ctx context.Context, name string) error {
	var out map[string]string
	return c.client.Call(ctx, http.MethodDelete, "/policies/"+url.PathEscape(name), nil, nil, &out)
}

// Try evaluates a policy on past requests, without saving it.
func (c *Policies) Try(ctx context.Context, t policy.TrialRequest) (out policy.TrialResult, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/policies/try", nil, t, &out)
	return out, err
}

// SetZone sets the time zone of policies' weekdays and hours.
func (c *Policies) SetZone(ctx context.Context, zone string) error {
	var out map[string]string
	return c.client.Call(ctx, http.MethodPut, "/policies-time-zone", nil, map[string]string{"time_zone": zone}, &out)
}

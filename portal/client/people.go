package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"muster/app/identity"
)

// Tenants lists the tenants of the installation.
func (c *Client) Tenants(ctx context.Context) ([]identity.Tenant, error) {
	var out struct{ Tenants []identity.Tenant }
	err := c.CallInto(ctx, "/tenants", nil, &out)
	return out.Tenants, err
}

// Tenant gives a tenant by its name.
func (c *Client) Tenant(ctx context.Context, name string) (t identity.Tenant, err error) {
	err = c.CallInto(ctx, "/tenants/"+url.PathEscape(name), nil, &t)
	return t, err
}

// MadeTenant is the answer to the making of a tenant.
type MadeTenant struct {
	Tenant   identity.Tenant `json:"tenant"`
	Password string          `json:"password,omitempty"`
}

// CreateTenant makes a tenant with its first admin.
func (c *Client) CreateTenant(ctx context.Context, n identity.NewTenant) (m MadeTenant, err error) {
	err = c.Call(ctx, http.MethodPost, "/tenants", nil, n, &m)
	return m, err
}

// ChangeTenant changes what a tenant is about, or its slots.
func (c *Client) ChangeTenant(ctx context.Context, name string, change identity.TenantChange) (t identity.Tenant, err error) {
	err = c.Call(ctx, http.MethodPatch, "/tenants/"+url.PathEscape(name), nil, change, &t)
	return t, err
}

// DeleteTenant deletes a tenant of which nothing is left in any cloud.
func (c *Client) DeleteTenant(ctx context.Context, name string) error {
	var out map[string]string
	return c.Call(ctx, http.MethodDelete, "/tenants/"+url.PathEscape(name), nil, nil, &out)
}

// Users gives all accounts that a filter leaves, page by page.
func (c *Client) Users(ctx context.Context, f identity.UserFilter) (all []identity.User, err error) {
	q := url.Values{"limit": {"500"}}
	if f.Search != "" {
		q.Set("search", f.Search)
	}
	if f.Role != "" {
		q.Set("role", string(f.Role))
	}
	for {
		var out struct {
			Users []identity.User
			More  bool
		}
		if err := c.CallInto(ctx, "/users", q, &out); err != nil {
			return nil, err
		}
		all = append(all, out.Users...)
		if !out.More || len(out.Users) == 0 {
			return all, nil
		}
		q.Set("after", all[len(all)-1].Name)
	}
}

func userPath(name string) string { return "/users/" + url.PathEscape(name) }

// User gives an account with what it owns.
func (c *Client) User(ctx context.Context, name string) (v identity.UserView, err error) {
	err = c.CallInto(ctx, userPath(name), nil, &v)
	return v, err
}

// MadeUser is the answer to the making of an account.
type MadeUser struct {
	User     identity.UserView `json:"user"`
	Password string            `json:"password,omitempty"`
}

// CreateUser makes an account; the password is told once.
func (c *Client) CreateUser(ctx context.Context, n identity.NewUser) (m MadeUser, err error) {
	err = c.Call(ctx, http.MethodPost, "/users", nil, n, &m)
	return m, err
}

// ChangeUser changes an account; what is nil stays.
func (c *Client) ChangeUser(ctx context.Context, name string, change identity.UserChange) (v identity.UserView, err error) {
	err = c.Call(ctx, http.MethodPatch, userPath(name), nil, change, &v)
	return v, err
}

// ResetPassword gives somebody a new one-time password, and ends their sign-ins.
func (c *Client) ResetPassword(ctx context.Context, name string) (string, error) {
	var out struct{ Password string }
	err := c.Call(ctx, http.MethodPost, userPath(name)+"/reset-password", nil, nil, &out)
	return out.Password, err
}

// ResetSecondFactor removes all second factors of a user, and ends their sign-ins.
func (c *Client) ResetSecondFactor(ctx context.Context, name string) error {
	var out map[string]string
	return c.Call(ctx, http.MethodPost, userPath(name)+"/reset-second-factor", nil, nil, &out)
}

// RequireSecondFactor sets whether people of the tenant who sign in with a password need a second factor.
func (c *Client) RequireSecondFactor(ctx context.Context, required bool) error {
	var out map[string]bool
	return c.Call(ctx, http.MethodPut, "/second-factor", nil, map[string]bool{"required": required}, &out)
}

// DeleteUser deletes an account with its tokens; its clusters go to another one, where that is named.
func (c *Client) DeleteUser(ctx context.Context, name, transferTo string) error {
	q := url.Values{}
	if transferTo != "" {
		q.Set("transfer_to", transferTo)
	}
	var out map[string]string
	return c.Call(ctx, http.MethodDelete, userPath(name), q, nil, &out)
}

// Groups lists the groups of the tenant.
func (c *Client) Groups(ctx context.Context) ([]identity.Group, error) {
	var out struct{ Groups []identity.Group }
	err := c.CallInto(ctx, "/groups", nil, &out)
	return out.Groups, err
}

// SaveGroup makes a group, or changes one.
func (c *Client) SaveGroup(ctx context.Context, change identity.GroupChange) (g identity.Group, err error) {
	err = c.Call(ctx, http.MethodPut, "/groups", nil, change, &g)
	return g, err
}

// DeleteGroup deletes a group; its members stay.
func (c *Client) DeleteGroup(ctx context.Context, name string) error {
	var out map[string]string
	return c.Call(ctx, http.MethodDelete, "/groups", url.Values{"name": {name}}, nil, &out)
}

// Tokens lists one's own API tokens; admins see those of the tenant, or of one user.
func (c *Client) Tokens(ctx context.Context, user string) ([]identity.Token, error) {
	q := url.Values{}
	if user != "" {
		q.Set("user", user)
	}
	var out struct{ Tokens []identity.Token }
	err := c.CallInto(ctx, "/tokens", q, &out)
	return out.Tokens, err
}

// MadeToken is the answer to the making of a token.
type MadeToken struct {
	Token  identity.Token `json:"token"`
	Secret string         `json:"secret"`
}

// CreateToken makes an API token; the secret is told once.
func (c *Client) CreateToken(ctx context.Context, n identity.NewAPIToken) (m MadeToken, err error) {
	err = c.Call(ctx, http.MethodPost, "/tokens", nil, n, &m)
	return m, err
}

// RevokeToken ends an API token at once.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	var out map[string]int64
	return c.Call(ctx, http.MethodDelete, "/tokens/"+strconv.FormatInt(id, 10), nil, nil, &out)
}

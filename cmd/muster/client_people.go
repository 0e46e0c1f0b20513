package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
)

func (c *client) tenants(ctx context.Context) ([]app.Tenant, error) {
	var out struct{ Tenants []app.Tenant }
	err := c.callInto(ctx, "/tenants", nil, &out)
	return out.Tenants, err
}

func (c *client) tenant(ctx context.Context, name string) (t app.Tenant, err error) {
	err = c.callInto(ctx, "/tenants/"+url.PathEscape(name), nil, &t)
	return t, err
}

// madeTenant is the answer to the making of a tenant.
type madeTenant struct {
	Tenant   app.Tenant `json:"tenant"`
	Password string     `json:"password,omitempty"`
}

func (c *client) createTenant(ctx context.Context, n app.NewTenant) (m madeTenant, err error) {
	err = c.call(ctx, http.MethodPost, "/tenants", nil, n, &m)
	return m, err
}

func (c *client) changeTenant(ctx context.Context, name string, change app.TenantChange) (t app.Tenant, err error) {
	err = c.call(ctx, http.MethodPatch, "/tenants/"+url.PathEscape(name), nil, change, &t)
	return t, err
}

func (c *client) deleteTenant(ctx context.Context, name string) error {
	var out map[string]string
	return c.call(ctx, http.MethodDelete, "/tenants/"+url.PathEscape(name), nil, nil, &out)
}

// users gives all accounts that a filter leaves, page by page.
func (c *client) users(ctx context.Context, f app.UserFilter) (all []app.User, err error) {
	q := url.Values{"limit": {"500"}}
	if f.Search != "" {
		q.Set("search", f.Search)
	}
	if f.Role != "" {
		q.Set("role", string(f.Role))
	}
	for {
		var out struct {
			Users []app.User
			More  bool
		}
		if err := c.callInto(ctx, "/users", q, &out); err != nil {
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

func (c *client) user(ctx context.Context, name string) (v app.UserView, err error) {
	err = c.callInto(ctx, userPath(name), nil, &v)
	return v, err
}

// madeUser is the answer to the making of an account.
type madeUser struct {
	User     app.UserView `json:"user"`
	Password string       `json:"password,omitempty"`
}

func (c *client) createUser(ctx context.Context, n app.NewUser) (m madeUser, err error) {
	err = c.call(ctx, http.MethodPost, "/users", nil, n, &m)
	return m, err
}

func (c *client) changeUser(ctx context.Context, name string, change app.UserChange) (v app.UserView, err error) {
	err = c.call(ctx, http.MethodPatch, userPath(name), nil, change, &v)
	return v, err
}

func (c *client) resetPassword(ctx context.Context, name string) (string, error) {
	var out struct{ Password string }
	err := c.call(ctx, http.MethodPost, userPath(name)+"/reset-password", nil, nil, &out)
	return out.Password, err
}

func (c *client) deleteUser(ctx context.Context, name, transferTo string) error {
	q := url.Values{}
	if transferTo != "" {
		q.Set("transfer_to", transferTo)
	}
	var out map[string]string
	return c.call(ctx, http.MethodDelete, userPath(name), q, nil, &out)
}

func (c *client) groups(ctx context.Context) ([]app.Group, error) {
	var out struct{ Groups []app.Group }
	err := c.callInto(ctx, "/groups", nil, &out)
	return out.Groups, err
}

func (c *client) saveGroup(ctx context.Context, change app.GroupChange) (g app.Group, err error) {
	err = c.call(ctx, http.MethodPut, "/groups", nil, change, &g)
	return g, err
}

func (c *client) deleteGroup(ctx context.Context, name string) error {
	var out map[string]string
	return c.call(ctx, http.MethodDelete, "/groups", url.Values{"name": {name}}, nil, &out)
}

func (c *client) tokens(ctx context.Context, user string) ([]app.Token, error) {
	q := url.Values{}
	if user != "" {
		q.Set("user", user)
	}
	var out struct{ Tokens []app.Token }
	err := c.callInto(ctx, "/tokens", q, &out)
	return out.Tokens, err
}

// madeToken is the answer to the making of a token.
type madeToken struct {
	Token  app.Token `json:"token"`
	Secret string    `json:"secret"`
}

func (c *client) createToken(ctx context.Context, n app.NewAPIToken) (m madeToken, err error) {
	err = c.call(ctx, http.MethodPost, "/tokens", nil, n, &m)
	return m, err
}

func (c *client) revokeToken(ctx context.Context, id int64) error {
	var out map[string]int64
	return c.call(ctx, http.MethodDelete, "/tokens/"+strconv.FormatInt(id, 10), nil, nil, &out)
}

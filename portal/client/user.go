package client

import (
	"context"
	"muster/app/identity"
	"net/http"
	"net/url"
)

// Users are the accounts of a tenant.
type Users part

// List returns all accounts that match a filter, page by page.
func (c *Users) List(ctx context.Context, f identity.UserFilter) (all []identity.User, err error) {
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
		if err := c.client.CallInto(ctx, "/users", q, &out); err != nil {
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

// Get returns an account with its possessions.
func (c *Users) Get(ctx context.Context, name string) (v identity.UserView, err error) {
	err = c.client.CallInto(ctx, userPath(name), nil, &v)
	return v, err
}

// MadeUser is a created account.
type MadeUser struct {
	User     identity.UserView `json:"user"`
	Password string            `json:"password,omitempty"`
}

// Create creates an account; its password is returned only once.
func (c *Users) Create(ctx context.Context, n identity.NewUser) (m MadeUser, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/users", nil, n, &m)
	return m, err
}

// Change updates an account; nil fields stay unchanged.
func (c *Users) Change(ctx context.Context, name string, change identity.UserChange) (v identity.UserView, err error) {
	err = c.client.Call(ctx, http.MethodPatch, userPath(name), nil, change, &v)
	return v, err
}

// ResetPassword sets a new one-time password, and ends all sign-ins.
func (c *Users) ResetPassword(ctx context.Context, name string) (string, error) {
	var out struct{ Password string }
	err := c.client.Call(ctx, http.MethodPost, userPath(name)+"/reset-password", nil, nil, &out)
	return out.Password, err
}

// ResetSecondFactor removes all second factors of a user, and ends all sign-ins.
func (c *Users) ResetSecondFactor(ctx context.Context, name string) error {
	var out map[string]string
	return c.client.Call(ctx, http.MethodPost, userPath(name)+"/reset-second-factor", nil, nil, &out)
}

// RequireSecondFactor sets whether people who sign in with a password need a second factor.
func (c *Users) RequireSecondFactor(ctx context.Context, required bool) error {
	var out map[string]bool
	return c.client.Call(ctx, http.MethodPut, "/second-factor", nil, map[string]bool{"required": required}, &out)
}

// Delete deletes an account with its tokens, and transfers its clusters to another account if given.
func (c *Users) Delete(ctx context.Context, name, transferTo string) error {
	q := url.Values{}
	if transferTo != "" {
		q.Set("transfer_to", transferTo)
	}
	var out map[string]string
	return c.client.Call(ctx, http.MethodDelete, userPath(name), q, nil, &out)
}

package rackspace

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v2/tokens"

	"muster/app"
	stack "muster/providers/internal/openstack"
)

// authMethod is how the account gets in.
type authMethod struct{ url, username, key, password, tenant string }

var _ tokens.AuthOptionsBuilder = authMethod{}

// ToTokenV2CreateMap writes what the identity service is asked with: an API key is Rackspace's own extension.
func (w authMethod) ToTokenV2CreateMap() (map[string]any, error) {
	auth := map[string]any{"passwordCredentials": map[string]string{"username": w.username, "password": w.password}}
	if w.key != "" {
		auth = map[string]any{"RAX-KSKEY:apiKeyCredentials": map[string]string{"username": w.username, "apiKey": w.key}}
	}
	if w.tenant != "" {
		auth["tenantId"] = w.tenant
	}
	return map[string]any{"auth": auth}, nil
}

// CanReauth is false: tokens are renewed by the sessions.
func (authMethod) CanReauth() bool { return false }

func (w authMethod) auth(client *http.Client) stack.Auth {
	return func(ctx context.Context) (stack.Token, error) {
		made := tokens.Create(ctx, &gophercloud.ServiceClient{ProviderClient: stack.Unauthenticated(client), Endpoint: w.url + "/", Type: "identity"}, w)
		if made.Err != nil {
			return stack.Token{}, refused(made.Err)
		}
		t, err := made.ExtractToken()
		if err != nil {
			return stack.Token{}, refused(err)
		}
		catalog, err := made.ExtractServiceCatalog()
		if err != nil {
			return stack.Token{}, refused(err)
		}
		user, err := tokens.GetResult{CreateResult: made}.ExtractUser()
		if err != nil {
			return stack.Token{}, refused(err)
		}
		out := stack.Token{ID: t.ID, Expires: t.ExpiresAt, Project: t.Tenant.ID}
		for _, r := range user.Roles {
			out.Roles = append(out.Roles, r.Name)
		}
		for _, service := range catalog.Entries {
			for _, e := range service.Endpoints {
				if e.Region != "" || service.Type == stack.TypeCloudDNS { // the servers of the first generation have none
					out.Catalog = append(out.Catalog, stack.Endpoint{Type: service.Type, Region: e.Region, URL: e.PublicURL})
				}
			}
		}
		return out, nil
	}
}

// refused says more of what the identity service said no to.
func refused(err error) error {
	err = stack.Coded(err)
	e := *app.AsError(err)
	switch e.Code {
	case app.ECredentials:
		e.Message = "Rackspace's identity service rejected the credentials: " + e.Message
		e.Reason, e.Hint = "", "Check the user and API key in the control panel, and that the user is enabled. Users with multi-factor authentication can't use a password."
	case app.ENotFound:
		e.Code, e.Field = app.EInvalid, "settings.auth_url"
		e.Message, e.Hint = "the identity service's address doesn't support version 2: "+e.Message, "Set auth_url to its default, "+identity+"."
	case app.EInternal:
		return err // a failure of the network
	}
	return &e
}

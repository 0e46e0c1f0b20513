package openstack

import (
	"context"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"muster/app"
	stack "muster/providers/internal/openstack"
)

// auth returns what asks Keystone for a token.
func (w authMethod) auth(client *http.Client) stack.Auth {
	return func(ctx context.Context) (stack.Token, error) {
		at := strings.TrimRight(w.authURL, "/")
		for _, version := range []string{"/v3", "/v2.0"} {
			at = strings.TrimSuffix(at, version)
		}
		keystone := &gophercloud.ServiceClient{ProviderClient: stack.Unauthenticated(client), Endpoint: at + "/v3/", Type: "identity"}
		made := tokens.Create(ctx, keystone, w.options())
		if made.Err != nil {
			return stack.Token{}, refused(made.Err)
		}
		return w.token(made)
	}
}

func (w authMethod) options() *gophercloud.AuthOptions {
	o := &gophercloud.AuthOptions{ApplicationCredentialID: w.credential, ApplicationCredentialName: w.credentialName, ApplicationCredentialSecret: w.secret}
	if w.credential != "" {
		o.ApplicationCredentialName = ""
		return o
	}
	if w.usernameIsID {
		o.UserID = w.username
	} else if o.Username = w.username; w.userDomainIsID {
		o.DomainID = w.userDomain
	} else {
		o.DomainName = w.userDomain
	}
	if w.credentialName != "" {
		return o
	}
	o.Password = w.password
	switch {
	case w.projectIsID:
		o.Scope = &gophercloud.AuthScope{ProjectID: w.project}
	case w.projectDomainIsID:
		o.Scope = &gophercloud.AuthScope{ProjectName: w.project, DomainID: w.projectDomain}
	default:
		o.Scope = &gophercloud.AuthScope{ProjectName: w.project, DomainName: w.projectDomain}
	}
	return o
}

// token reads what Keystone said.
func (w authMethod) token(made tokens.CreateResult) (stack.Token, error) {
	t, err := made.ExtractToken()
	if err != nil {
		return stack.Token{}, refused(err)
	}
	catalog, err := made.ExtractServiceCatalog()
	if err != nil {
		return stack.Token{}, refused(err)
	}
	roles, err := made.ExtractRoles()
	if err != nil {
		return stack.Token{}, refused(err)
	}
	out := stack.Token{ID: t.ID, Expires: t.ExpiresAt}
	if project, err := made.ExtractProject(); err == nil && project != nil {
		out.Project = project.ID
	}
	for _, r := range roles {
		out.Roles = append(out.Roles, r.Name)
	}
	for _, service := range catalog.Entries {
		for _, e := range service.Endpoints {
			if e.Interface == w.endpoints {
				region := e.RegionID
				if region == "" {
					region = e.Region
				}
				out.Catalog = append(out.Catalog, stack.Endpoint{Type: service.Type, Region: region, URL: e.URL})
			}
		}
	}
	return out, nil
}

// refused says more of what Keystone said no to.
func refused(err error) error {
	err = stack.Coded(err)
	e := *app.AsError(err)
	switch {
	case e.Code == app.ECredentials, e.Code == app.ENotFound && strings.Contains(e.Message, "Application Credential"): // one that was deleted isn't found
		e.Code = app.ECredentials
		e.Message = "the identity service rejected the credentials: " + e.Message
		e.Reason, e.Hint = "", "Check the user, domain, project and password, or create a new application credential: the current one may have expired."
	case e.Code == app.ENotFound:
		e.Code, e.Field = app.EInvalid, "settings.auth_url"
		e.Message = "the identity service's address isn't a Keystone with version 3: " + e.Message
		e.Hint = "Check auth_url; it usually ends in /v3."
	case e.Code == app.EInternal:
		return err // a failure of the network
	}
	return &e
}

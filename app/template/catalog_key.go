package template

import (
	"strings"

	"muster/app"
)

// A tenant's catalog is the installation's, which comes from files, with the tenant's own entries over it: an own entry replaces the
// installation's of the same kind and name. Own entries are kept as their admins wrote them, in Muster's own form of YAML, with every
// version. What is in progress and what exists keeps the definition that it was made by.

// CatalogKinds are the kinds of entries, in the order in which people look at them.
var CatalogKinds = []string{KindTemplate, KindService, KindImage, KindHardware, KindProvider}

// CatalogKey names an entry.
type CatalogKey struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// AccountName tells accounts apart: a tenant's own provider, and the installation's of the same name (tenant "").
func AccountName(tenant, provider string) string {
	if tenant == "" {
		return provider
	}
	return tenant + "/" + provider
}

// Account is the name of the account that the provider is.
func (s ProviderSpec) Account() string {
	if s.Own != nil && s.Own.Cluster != "" {
		return ClusterAccountName(s.Tenant, s.Name, s.Own.Cluster)
	}
	return AccountName(s.Tenant, s.Name)
}

// HasSecrets reports whether the settings of a provider refer to secrets, so that each tenant has an account of its own there.
func (s ProviderSpec) HasSecrets() bool { return len(app.SecretNames(s.Settings)) > 0 }

// SecretPlace is where a secret belongs: ${secret:NAME}.
type SecretPlace string

// Name returns the name that the place has; false where the text is no place.
func (p SecretPlace) Name() (string, bool) {
	name, begins := strings.CutPrefix(string(p), "${secret:")
	name, ends := strings.CutSuffix(name, "}")
	return name, begins && ends && app.SecretPattern.MatchString(name)
}

package openstack

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/providers/internal/account"

	"go.yaml.in/yaml/v3"
)

// clouds is a clouds.yaml. The SDK's own reader is not used, for it looks into the environment and opens files of this host that the text names.
type clouds struct {
	Clouds map[string]entry `yaml:"clouds"`
}

type entry struct {
	Auth struct {
		AuthURL           string `yaml:"auth_url"`
		Username          string `yaml:"username"`
		UserID            string `yaml:"user_id"`
		Password          string `yaml:"password"`
		UserDomainName    string `yaml:"user_domain_name"`
		UserDomainID      string `yaml:"user_domain_id"`
		DomainName        string `yaml:"domain_name"`
		DomainID          string `yaml:"domain_id"`
		ProjectName       string `yaml:"project_name"`
		ProjectID         string `yaml:"project_id"`
		ProjectDomainName string `yaml:"project_domain_name"`
		ProjectDomainID   string `yaml:"project_domain_id"`
		Credential        string `yaml:"application_credential_id"`
		CredentialName    string `yaml:"application_credential_name"`
		CredentialSecret  string `yaml:"application_credential_secret"`
	} `yaml:"auth"`
	AuthType     string `yaml:"auth_type"`
	Region       string `yaml:"region_name"`
	Interface    string `yaml:"interface"`
	EndpointType string `yaml:"endpoint_type"`
	Verify       *bool  `yaml:"verify"`
	Certificates string `yaml:"cacert"`
	Certificate  string `yaml:"cert"`
	Key          string `yaml:"key"`
	Profile      string `yaml:"profile"`
	Vendor       string `yaml:"cloud"`
}

// fromClouds reads an entry of a clouds.yaml. What the text holds is never in a message, but for the names of its entries.
func fromClouds(text, name string) (authMethod, error) {
	var all clouds
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		return authMethod{}, hinted(account.Invalid("clouds_yaml", "clouds.yaml can't be parsed"), "Paste the whole file, with its indentation.")
	}
	names := slices.Sorted(maps.Keys(all.Clouds))
	if len(names) == 0 {
		return authMethod{}, hinted(account.Invalid("clouds_yaml", "clouds.yaml has no entry under clouds"), "Paste the whole file, starting with the line clouds:.")
	}
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	one, ok := all.Clouds[name]
	if !ok {
		e := account.Invalid("cloud", "clouds.yaml has no entry %q", name)
		e.Hint = humanize.Suggest(name, names)
		return authMethod{}, e
	}
	for what, there := range map[string]bool{"profile": one.Profile != "", "cloud": one.Vendor != "", "cert": one.Certificate != "", "key": one.Key != ""} {
		if there {
			return authMethod{}, hinted(account.Invalid("clouds_yaml", "the entry uses %s, which Muster doesn't support", what), "Enter the values themselves, in the entry or in the account's fields.")
		}
	}
	if one.Certificates != "" {
		return authMethod{}, hinted(account.Invalid("clouds_yaml", "the entry names a certificate file (cacert) that isn't on this host"), "Paste the certificates into ca_certificate, and remove the line.")
	}
	if one.Verify != nil && !*one.Verify {
		return authMethod{}, hinted(account.Invalid("clouds_yaml", "the entry disables certificate verification (verify)"), "Paste the cloud's CA certificate into ca_certificate, and remove the line.")
	}
	switch one.AuthType {
	case "", "password", "v3password", "v3applicationcredential":
	default:
		return authMethod{}, hinted(account.Invalid("clouds_yaml", "the entry's auth_type isn't supported"), "Use password or v3applicationcredential.")
	}
	a := one.Auth
	w := authMethod{
		authURL: a.AuthURL, password: a.Password, region: one.Region,
		credential: a.Credential, credentialName: a.CredentialName, secret: a.CredentialSecret,
		endpoints: strings.TrimSuffix(cmp.Or(one.Interface, one.EndpointType), "URL"),
	}
	either := func(id, name string) (string, bool) { return cmp.Or(id, name), id != "" }
	w.username, w.usernameIsID = either(a.UserID, a.Username)
	w.project, w.projectIsID = either(a.ProjectID, a.ProjectName)
	w.userDomain, w.userDomainIsID = either(cmp.Or(a.UserDomainID, a.DomainID), cmp.Or(a.UserDomainName, a.DomainName))
	w.projectDomain, w.projectDomainIsID = either(cmp.Or(a.ProjectDomainID, a.DomainID), cmp.Or(a.ProjectDomainName, a.DomainName))
	return w, nil
}

package providervalue_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/providervalue"
	"muster/app/template"
)

// cloud is a type of provider with a setting of each sort.
var cloud = family.Descriptor{
	Name: "cloud",
	Fields: []family.Field{
		{Name: "region", SetBy: family.SetByTenant, Label: "Region", Required: true},
		{Name: "url", SetBy: family.SetByTenant, Label: "Address", Reaches: true},
		{Name: "key_id", SetBy: family.SetByTenant, Label: "Key ID", Identity: true},
		{Name: "key", SetBy: family.SetByTenant, Label: "Key", Identity: true, Secret: true},
		{Name: "token", SetBy: family.SetByTenant, Label: "Token", Secret: true},
		{Name: "role", SetBy: family.SetByInstallation, Label: "Role", Acts: true},
		{Name: "api_url", SetBy: family.SetByInstallation, Label: "Endpoint"},
		{Name: "disk_gb", SetBy: family.SetByAccountOwner, Label: "Disk", Type: family.FieldInt},
	},
	FlavorFields: []family.Field{{Name: "disk_gb"}},
}

func provider(fields ...template.ProviderField) template.ProviderSpec {
	return template.ProviderSpec{About: template.About{Name: "aws"}, Type: "cloud", Fields: fields, Settings: map[string]any{
		"region": "eu", "key_id": "AKIAINSTALLATION", "key": "installation-key", "token": "installation-token", "role": "arn:installation", "api_url": "https://inside"}}
}

// Whatever users set, none of the provider's credentials are in an account that has credentials of theirs, or an address.
func TestCredentialsAreNeverMixed(t *testing.T) {
	const want = "region=eu api_url=https://inside"
	for name, c := range map[string]struct {
		values  providervalue.Values
		account string
		want    string
	}{
		"credentials":          {providervalue.Values{"key_id": "AKIAMINE", "key": "mine"}, "acme/aws@web-1", want + " key_id=AKIAMINE key=mine"},
		"half of them":         {providervalue.Values{"key": "mine"}, "acme/aws@web-1", want + " key=mine"},
		"an address":           {providervalue.Values{"url": "https://evil"}, "acme/aws@web-1", want + " url=https://evil"},
		"another region":       {providervalue.Values{"region": "us"}, "acme/aws@web-1", "region=us api_url=https://inside key_id=AKIAINSTALLATION key=installation-key token=installation-token role=arn:installation"},
		"a setting of machine": {providervalue.Values{"disk_gb": "20"}, "aws", "disk_gb=20 region=eu api_url=https://inside key_id=AKIAINSTALLATION key=installation-key token=installation-token role=arn:installation"},
	} {
		t.Run(name, func(t *testing.T) {
			base := provider()
			got := providervalue.Overlay(base, cloud, "acme", "web-1", c.values)
			var list []string
			for k, v := range got.Settings {
				list = append(list, fmt.Sprintf("%s=%v", k, v))
			}
			words := strings.Fields(c.want)
			slices.Sort(words)
			slices.Sort(list)
			if !slices.Equal(list, words) || got.Account() != c.account {
				t.Errorf("%s: %v, want %v", got.Account(), list, words)
			}
			if own := len(c.values) > 0 && got.Settings["key"] != "installation-key"; got.Own.Credentials != own {
				t.Errorf("credentials of its own: %t", got.Own.Credentials)
			}
			if !maps.Equal(base.Settings, provider().Settings) {
				t.Error("the provider itself was changed")
			}
		})
	}
}

func TestOnlyDeclaredSettingsCanBeSet(t *testing.T) {
	least, most := 10, 100
	fields := providervalue.FieldsOf(new(provider(
		template.ProviderField{Name: "region", Override: true, Options: []string{"eu", "us"}},
		template.ProviderField{Name: "key_id", Override: true, Pattern: "AKIA[A-Z]+"},
		template.ProviderField{Name: "key", Override: true, Required: true},
		template.ProviderField{Name: "disk_gb", Override: true, Min: &least, Max: &most},
		template.ProviderField{Name: "token"},
		template.ProviderField{Name: "api_url", Override: true},
	)), cloud)
	if len(fields) != 4 || !fields[2].Sensitive || fields[2].Default != "" || fields[0].Default != "eu" || fields[0].Type != family.FieldChoice {
		t.Fatalf("%+v", fields)
	}
	for name, c := range map[string]struct {
		values providervalue.Values
		field  string
	}{
		"all":                   {providervalue.Values{"region": "us", "key_id": "AKIAX", "key": "k", "disk_gb": "10"}, ""},
		"a missing one":         {providervalue.Values{"region": "us"}, "key"},
		"an unknown one":        {providervalue.Values{"key": "k", "keys": "k"}, "keys"},
		"not to be overridden":  {providervalue.Values{"key": "k", "token": "t"}, "token"},
		"the installation's":    {providervalue.Values{"key": "k", "api_url": "https://evil"}, "api_url"},
		"not among the options": {providervalue.Values{"key": "k", "region": "mars"}, "region"},
		"not of the form":       {providervalue.Values{"key": "k", "key_id": "AKIAX; rm"}, "key_id"},
		"too small":             {providervalue.Values{"key": "k", "disk_gb": "9"}, "disk_gb"},
		"too large":             {providervalue.Values{"key": "k", "disk_gb": "101"}, "disk_gb"},
		"no number":             {providervalue.Values{"key": "k", "disk_gb": "ten"}, "disk_gb"},
		"a tenant's secret":     {providervalue.Values{"key": "${secret:TOKEN}"}, "key"},
		"the environment":       {providervalue.Values{"key": "${env:HOME}"}, "key"},
		"too long":              {providervalue.Values{"key": strings.Repeat("very-secret", 10_000)}, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			err := providervalue.Check("aws", fields, c.values)
			if c.field == "" && err != nil || c.field != "" && (err == nil || app.AsError(err).Field != "provider_values."+c.field) {
				t.Fatal(err)
			}
			if err != nil && strings.Contains(fmt.Sprint(err, app.AsError(err).Hint), "very-secret") {
				t.Error("a secret is shown")
			}
		})
	}
	if err := providervalue.Check("aws", nil, providervalue.Values{"key": "k"}); err == nil {
		t.Error("a provider without fields takes values")
	}
	if text := fmt.Sprintf("%v %+v %#v", providervalue.Values{"key": "very-secret"}, struct{ V providervalue.Values }{providervalue.Values{"key": "very-secret"}},
		providervalue.Values{"key": "very-secret"}); strings.Contains(text, "very-secret") {
		t.Errorf("values are printed: %s", text)
	}
}

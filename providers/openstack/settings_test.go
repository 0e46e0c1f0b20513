package openstack

import (
	"strings"
	"testing"

	"muster/app"
	"muster/providers/internal/account"
	fake "muster/providers/internal/openstacktest"
)

const cloudsYAML = `
clouds:
  theirs:
    auth:
      auth_url: https://keystone.example.org/identity
      username: someone
      password: hunter2
      project_name: other
      project_domain_id: default
      user_domain_name: Default
    region_name: RegionOne
    interface: internal
    identity_api_version: 3
  ours:
    auth_type: v3applicationcredential
    auth:
      auth_url: URL/identity
      application_credential_name: deploy
      application_credential_secret: "battery staple"
      username: muster
      user_domain_id: default
    regions: [RegionOne, RegionTwo]
`

func TestCloudsYAML(t *testing.T) {
	s := simulate(t)
	text := strings.ReplaceAll(cloudsYAML, "URL", s.url)
	p, err := Open("cloud", map[string]any{"clouds_yaml": text, "cloud": "ours", "region": fake.Region}, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if _, err := p.List(t.Context(), nil); err != nil {
		t.Error(err)
	}
	w, err := fromClouds(text, "theirs")
	if err != nil || w.endpoints != "internal" || w.region != "RegionOne" || w.project != "other" || w.projectDomain != "default" || !w.projectDomainIsID || w.userDomain != "Default" || w.userDomainIsID {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	entry := func(lines string) string {
		return "clouds:\n  a:\n    auth: {auth_url: https://k/v3, username: u, password: hunter2, project_name: p}\n" + lines
	}
	good := map[string]any{"auth_url": "https://k/v3", "username": "u", "password": "hunter2", "project": "p"}
	for name, c := range map[string]struct {
		change map[string]any
		field  string
	}{
		"nothing":               {map[string]any{"auth_url": ""}, "auth_url"},
		"no http":               {map[string]any{"auth_url": "keystone:5000"}, "auth_url"},
		"a password in the URL": {map[string]any{"auth_url": "https://u:hunter2@k/v3"}, "auth_url"},
		"no user":               {map[string]any{"username": ""}, "username"},
		"no password":           {map[string]any{"password": ""}, "password"},
		"no project":            {map[string]any{"project": ""}, "project"},
		"no secret":             {map[string]any{"application_credential_id": "x"}, "application_credential_secret"},
		"no entry":              {map[string]any{"cloud": "x"}, "cloud"},
		"an unknown entry":      {map[string]any{"clouds_yaml": entry(""), "cloud": "b"}, "cloud"},
		"no YAML":               {map[string]any{"clouds_yaml": "clouds: [hunter2"}, "clouds_yaml"},
		"no entries":            {map[string]any{"clouds_yaml": "hunter2: {}"}, "clouds_yaml"},
		"a file of ours":        {map[string]any{"clouds_yaml": entry("    cacert: /etc/ssl/hunter2.pem")}, "clouds_yaml"},
		"no look at who it is":  {map[string]any{"clouds_yaml": entry("    verify: false")}, "clouds_yaml"},
		"a profile":             {map[string]any{"clouds_yaml": entry("    profile: vexxhost")}, "clouds_yaml"},
		"another way in":        {map[string]any{"clouds_yaml": entry("    auth_type: v3oidcpassword")}, "clouds_yaml"},
		"certificates of none":  {map[string]any{"ca_certificate": "hunter2"}, "ca_certificate"},
		"a size that is none":   {map[string]any{"boot_volume_gb": "-1"}, "boot_volume_gb"},
		"SSH from anywhere":     {map[string]any{"ssh_from": "anywhere"}, "ssh_from"},
		"a drive or not":        {map[string]any{"config_drive": "perhaps"}, "config_drive"},
	} {
		settings := map[string]any{}
		for k, v := range good {
			settings[k] = v
		}
		for k, v := range c.change {
			settings[k] = v
		}
		err := Check(settings)
		e := app.AsError(err)
		if err == nil || e.Code != app.EInvalid || e.Field != "settings."+c.field || strings.Contains(e.Advised(), "hunter2") {
			t.Errorf("%s: %v (field %q)", name, err, e.Field)
		}
	}
	if err := Check(good); err != nil {
		t.Error(err)
	}
}

// Keystone is asked where the address leads, whichever version it names.
func TestKeystoneAuthMethods(t *testing.T) {
	s := simulate(t)
	for _, path := range []string{"/identity", "/identity/", "/identity/v3", "/identity/v3/", "/identity/v2.0"} {
		p := s.open(t, map[string]any{"auth_url": s.url + path, "interface": "internal", "project": fake.ProjectID})
		if _, err := p.List(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

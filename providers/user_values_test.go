package providers

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/providervalue"
	"muster/app/template"
)

// Whatever says where a tenant's credentials go is a setting with which none of the provider's are left.
func TestAddressesAreMarked(t *testing.T) {
	for name, m := range registry {
		for _, f := range m.Descriptor.Fields {
			if slices.Contains(ownAddresses, name+"."+f.Name) && !f.Reaches {
				t.Errorf("%s.%s says where credentials are sent: add Reaches", name, f.Name)
			}
			if strings.Contains(f.Name, "role") && !f.Acts {
				t.Errorf("%s.%s says as whom the account acts: add Acts", name, f.Name)
			}
		}
	}
}

// A provider can leave each setting to users but those that only the installation can set; nothing of providers on Muster's own hosts.
func TestUsersCannotSetInstallationSettings(t *testing.T) {
	allowed, refused := 0, 0
	for name, m := range registry {
		for _, f := range m.Descriptor.Fields {
			spec := template.ProviderSpec{About: template.About{Name: "p"}, Type: name, Settings: map[string]any{}, Fields: []template.ProviderField{{Name: f.Name, Override: true}}}
			err := checkUserFields(spec, m)
			want := f.SetBy == family.SetByInstallation || f.SetBy == "" || f.Grants || m.Descriptor.Host
			if want != (err != nil) || err != nil && app.AsError(err).Field != "fields.0" {
				t.Errorf("%s.%s: %v", name, f.Name, err)
			}
			if err != nil {
				refused++
			} else {
				allowed++
			}
			// A cluster that an older catalog let have it is opened by no one.
			if f.SetBy == family.SetByInstallation {
				own := provider(name, map[string]any{f.Name: value(f)})
				own.Own = &template.ProviderOwn{Names: []string{f.Name}, Cluster: "c-1"}
				if err := checkUserValues(own, m); err == nil || app.AsError(err).Reason != "installation_only" {
					t.Errorf("%s.%s as a cluster's value: %v", name, f.Name, err)
				}
			}
		}
	}
	if allowed < 10 || refused < 3 {
		t.Errorf("%d allowed, %d refused", allowed, refused)
	}
}

// Users of a provider reach no address of the server's network with its credentials or with theirs, and never act as the host.
func TestUsersNeverActAsTheInstallation(t *testing.T) {
	var seen atomic.Value
	note := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.URL.Path)
		http.Error(w, "inside", http.StatusTeapot)
	})
	inside, secure := httptest.NewServer(note), httptest.NewTLSServer(note)
	t.Cleanup(inside.Close)
	t.Cleanup(secure.Close)
	thumbprint := fmt.Sprintf("%x", sha256.Sum256(secure.Certificate().Raw))
	address, sent := planted(t)
	key := ecdsaPEM(t)
	base := func(kind string, settings map[string]any) template.ProviderSpec { return provider(kind, settings) }
	for name, c := range map[string]struct {
		spec   template.ProviderSpec
		values providervalue.Values
	}{
		"joyent with the provider's key": {base("joyent", map[string]any{"url": "https://cloudapi.example.com", "account": "acme", "key": key}), providervalue.Values{"url": inside.URL}},
		"joyent with their own":          {base("joyent", map[string]any{"url": "https://cloudapi.example.com", "account": "acme", "key": key}), providervalue.Values{"url": inside.URL, "key": key}},
		"openstack with the provider's password": {base("openstack", map[string]any{"auth_url": "https://k.example.com/v3", "username": "u", "password": "p", "project": "x", "user_domain": "default"}),
			providervalue.Values{"auth_url": inside.URL + "/v3"}},
		"vsphere with the provider's password": {base("vsphere", map[string]any{"url": "https://vcenter.example.com", "username": "u", "password": "p"}), providervalue.Values{"url": secure.URL, "thumbprint": thumbprint}},
		"vsphere with their own": {base("vsphere", map[string]any{"url": "https://vcenter.example.com", "username": "u", "password": "p"}),
			providervalue.Values{"url": secure.URL, "thumbprint": thumbprint, "username": "mine", "password": "mine"}},
		"aws with half of a key":         {base("aws", map[string]any{"region": "eu-central-1", "api_url": address}), providervalue.Values{"access_key_id": "AKIAMINE"}},
		"azure with half of its own":     {base("azure", azureSettings(nil)), providervalue.Values{"client_id": azureID, "directory_id": azureID}},
		"azure with another directory":   {base("azure", azureSettings(nil)), providervalue.Values{"directory_id": azureID}},
		"google in another universe":     {base("google", map[string]any{"zone": "europe-west3-a", "project": "p1"}), providervalue.Values{"credentials": keyFor(t, "https://oauth2.googleapis.com/token", "attacker.example.com")}},
		"google with a token server":     {base("google", map[string]any{"zone": "europe-west3-a", "project": "p1"}), providervalue.Values{"credentials": keyFor(t, inside.URL+"/token", "")}},
		"static with the provider's key": {base("static", map[string]any{"ssh_key": key, "machines": "m1 192.0.2.1"}), providervalue.Values{"machines": "m1 127.0.0.1"}},
	} {
		m, there := registry[c.spec.Type]
		if !there {
			continue // a small build
		}
		spec := providervalue.Overlay(c.spec, m.Descriptor, "acme", "web-1", c.values)
		p, err := Open(t.Context(), spec, Env{Installation: "i", DataDir: t.TempDir()})
		if err == nil {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err = p.List(ctx, map[string]string{family.TagInstallation: "i"})
			cancel()
		}
		if err == nil || seen.Load() != nil || sent.Load() > 0 {
			t.Errorf("%s: %v; inside: %v; %d requests as the host", name, err, seen.Load(), sent.Load())
		}
	}
}

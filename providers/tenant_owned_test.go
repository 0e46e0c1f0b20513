package providers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/netguard"
	"muster/app/template"
	"muster/providers/internal/account"
)

// ownAddresses are where tenants' own clouds are. TestTenantProvidersCannotReachPrivateAddresses tries each.
var ownAddresses = []string{"joyent.url", "openstack.auth_url", "vsphere.url"}

// Every field says who may set it, or a tenant could set what no one has thought about.
func TestEveryFieldSaysWhoMaySetIt(t *testing.T) {
	n := 0
	for name, m := range registry {
		for _, f := range slices.Concat(m.Descriptor.Fields, m.Descriptor.FlavorFields, m.Descriptor.ImageFields) {
			if n++; f.SetBy == "" {
				t.Errorf("%s: the field %s doesn't say who may set it: add SetBy, see family.SetBy", name, f.Name)
			}
			leads := slices.Contains([]string{"url", "host", "endpoint"}, f.Name) || strings.HasSuffix(f.Name, "_url") || strings.Contains(f.Name, "proxy") || strings.Contains(f.Name, "role")
			if leads && f.SetBy != family.SetByInstallation && !slices.Contains(ownAddresses, name+"."+f.Name) {
				t.Errorf("%s: a tenant may set %s, which says where credentials go or who is acted as: say SetByInstallation, or, if a tenant's own cloud is its address, "+
					"add it to ownAddresses and to TestTenantProvidersCannotReachPrivateAddresses", name, f.Name)
			}
		}
	}
	t.Logf("%d fields of %d members", n, len(registry))
}

// own is an account that a tenant's admin saved.
func own(kind string, settings map[string]any) template.ProviderSpec {
	s := provider(kind, settings)
	s.Tenant, s.Untrusted = "acme", true
	return s
}

// value is something that a field takes.
func value(f family.Field) string {
	switch f.Kind() {
	case family.FieldInt:
		return "1"
	case family.FieldBool:
		return "true"
	case family.FieldChoice:
		return f.Options[0]
	}
	return "https://attacker.example.com/"
}

// Each setting of each member is tried as a tenant's: those that are the installation's are refused before anything is opened, and so is an account without
// each part of its credentials.
func TestTenantsCannotSetInstallationSettings(t *testing.T) {
	refused, needed := 0, 0
	for name, m := range registry {
		whole := map[string]any{}
		for _, f := range m.Descriptor.Fields {
			if f.Identity || f.Required {
				whole[f.Name] = value(f)
			}
		}
		for _, f := range m.Descriptor.Fields {
			settings := map[string]any{}
			for k, v := range whole {
				settings[k] = v
			}
			settings[f.Name] = value(f)
			_, err := Open(t.Context(), own(name, settings), Env{Installation: "i"})
			forbidden := err != nil && app.AsError(err).Reason == "installation_only"
			if want := f.SetBy == family.SetByInstallation; forbidden != want || want && app.AsError(err).Field != "settings."+f.Name {
				t.Errorf("%s.%s, set by %s: %v", name, f.Name, f.SetBy, err)
			} else if want {
				refused++
			}
			if f.Identity {
				delete(settings, f.Name)
				if _, err := Open(t.Context(), own(name, settings), Env{Installation: "i"}); err == nil || app.AsError(err).Reason != "own_credentials" {
					t.Errorf("%s without %s: %v", name, f.Name, err)
				}
				needed++
			}
		}
	}
	if refused < 3 || needed < 1 { // a small build has fewer
		t.Errorf("%d refused, %d needed", refused, needed)
	}
	t.Logf("%d settings refused, %d parts of credentials needed", refused, needed)
}

// planted returns this process the identity of a host at Google, at AWS and at Azure, whose tokens are handed out by a server that counts what it is sent.
func planted(t *testing.T) (address string, sent *atomic.Int64) {
	sent = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"ya29.the-hosts-own","token_type":"Bearer","expires_in":3600}`))
	}))
	t.Cleanup(s.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := json.Marshal(map[string]string{"type": "service_account", "project_id": "the-hosts-project", "client_email": "host@example.com", "token_uri": s.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))})
	at := filepath.Join(t.TempDir(), "adc.json")
	if err := os.WriteFile(at, file, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", at)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIATHEHOSTSOWNKEY00")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the-hosts-own-secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("IDENTITY_ENDPOINT", s.URL) // a managed identity at Azure
	t.Setenv("IDENTITY_HEADER", "the-hosts-own-header")
	t.Setenv("NO_PROXY", "*")
	return s.URL, sent
}

// The identity of the host reaches no address that a tenant chose.
func TestTenantsCannotUseHostCredentials(t *testing.T) {
	address, sent := planted(t)
	attacks := map[string]template.ProviderSpec{
		"google with another API":       own("google", map[string]any{"zone": "europe-west3-a", "project": "project-one", "api_url": address + "/compute/v1/"}),
		"google as the host":            own("google", map[string]any{"zone": "europe-west3-a", "project": "project-one"}),
		"google with a token server":    own("google", map[string]any{"zone": "europe-west3-a", "credentials": keyFor(t, address+"/token", "")}),
		"google in another universe":    own("google", map[string]any{"zone": "europe-west3-a", "credentials": keyFor(t, "https://oauth2.googleapis.com/token", "attacker.example.com")}),
		"aws with another API":          own("aws", map[string]any{"region": "eu-central-1", "api_url": address}),
		"aws as the host":               own("aws", map[string]any{"region": "eu-central-1"}),
		"aws with half of its own":      own("aws", map[string]any{"region": "eu-central-1", "access_key_id": "AKIAOWN"}),
		"aws as a role":                 own("aws", map[string]any{"region": "eu-central-1", "role_arn": "arn:aws:iam::123456789012:role/admin", "sts_url": address}),
		"aws with keys and another API": own("aws", map[string]any{"region": "eu-central-1", "access_key_id": "AKIAOWN", "secret_access_key": "x", "api_url": address}),
		"azure as the host":             own("azure", azureSettings(nil)),
		"azure with half of its own":    own("azure", azureSettings(map[string]any{"directory_id": azureID, "client_id": azureID})),
		"azure with another API":        own("azure", azureSettings(map[string]any{"directory_id": azureID, "client_id": azureID, "client_secret": "x", "api_url": address})),
		"azure with another sign-in":    own("azure", azureSettings(map[string]any{"directory_id": azureID, "client_id": azureID, "client_secret": "x", "login_url": address})),
		"an address in a secret":        own("aws", map[string]any{"region": "eu-central-1", "access_key_id": "AKIAOWN", "secret_access_key": "x", "quotas_url": " " + address}),
		"the installation's, saved by a superadmin": {About: template.About{Name: "here"}, Tenant: "acme", Type: "google",
			Settings: map[string]any{"zone": "europe-west3-a", "project": "project-one", "api_url": address + "/compute/v1/"}},
		"the installation's at Azure, saved by a superadmin": {About: template.About{Name: "here"}, Tenant: "acme", Type: "azure",
			Settings: azureSettings(map[string]any{"api_url": "https://127.0.0.1:1"})},
	}
	for name, spec := range attacks {
		if _, there := registry[spec.Type]; !there {
			continue // a small build
		}
		before := sent.Load()
		p, err := Open(t.Context(), spec, Env{Installation: "i"})
		if err == nil {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			_, _ = p.List(ctx, map[string]string{family.TagInstallation: "i"})
			cancel()
			if c, ok := p.(family.ProviderCloser); ok {
				_ = c.Close()
			}
		}
		if trusted := !spec.Untrusted; trusted != (sent.Load() > before) || trusted != (err == nil) {
			t.Errorf("%s: %d requests reached the address, %v", name, sent.Load()-before, err)
		}
	}
}

const azureID = "11111111-1111-4111-8111-111111111111"

// azureSettings are an account's without credentials, and more.
func azureSettings(more map[string]any) map[string]any {
	s := map[string]any{"subscription_id": azureID, "resource_group": "g", "location": "westeurope", "subnet": "v/s"}
	maps.Copy(s, more)
	return s
}

func keyFor(t *testing.T, token, universe string) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(map[string]string{"type": "service_account", "project_id": "own-project", "client_email": "own@example.com", "token_uri": token, "universe_domain": universe,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))})
	return string(b)
}

// elsewhere is a resolver for which every name is one address.
type elsewhere struct{ netip.Addr }

func (e elsewhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{e.Addr}, nil
}

// A tenant's own provider reaches no address of the server's own network, whatever its name said before and wherever it redirects; where the operator
// allows the
// network, it does.
func TestTenantProvidersCannotReachPrivateAddresses(t *testing.T) {
	var hits atomic.Int64
	secret := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		http.Error(w, "the secret of the inside", http.StatusTeapot)
	})
	inside, secure := httptest.NewServer(secret), httptest.NewTLSServer(secret)
	t.Cleanup(inside.Close)
	t.Cleanup(secure.Close)
	_, securePort, _ := net.SplitHostPort(secure.Listener.Addr().String())
	thumbprint := fmt.Sprintf("%x", sha256.Sum256(secure.Certificate().Raw))
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	key := ecdsaPEM(t)
	named := "http://api.example.com:" + port
	for name, spec := range map[string]template.ProviderSpec{
		"openstack by address": own("openstack", map[string]any{"auth_url": inside.URL + "/v3", "username": "u", "password": "p", "project": "x", "user_domain": "default"}),
		"openstack by name":    own("openstack", map[string]any{"auth_url": named + "/v3", "username": "u", "password": "p", "project": "x", "user_domain": "default"}),
		"joyent by address":    own("joyent", map[string]any{"url": inside.URL, "account": "acme", "key": key}),
		"joyent by name":       own("joyent", map[string]any{"url": named, "account": "acme", "key": key}),
		"vsphere by address":   own("vsphere", map[string]any{"url": secure.URL, "username": "u", "password": "p", "thumbprint": thumbprint}),
		"vsphere by name":      own("vsphere", map[string]any{"url": "https://vcenter.example.com:" + securePort, "username": "u", "password": "p", "thumbprint": thumbprint}),
		"static":               own("static", map[string]any{"ssh_key": key, "machines": "m1 127.0.0.1 port=" + port + " host_key=\"" + publicLine(t, key) + "\""}),
	} {
		if _, there := registry[spec.Type]; !there {
			continue // a small build
		}
		for what, c := range map[string]struct {
			guard   *netguard.Guard
			reached bool
		}{
			"by default":                  {nil, false},
			"with a name that leads here": {&netguard.Guard{Resolver: elsewhere{netip.MustParseAddr("127.0.0.1")}}, false},
			"where it is allowed":         {&netguard.Guard{Resolver: elsewhere{netip.MustParseAddr("127.0.0.1")}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, true},
		} {
			before := hits.Load()
			p, err := Open(t.Context(), spec, Env{Installation: "i", DataDir: t.TempDir(), Guard: c.guard})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			found, err := p.(family.AccountChecker).CheckAccount(ctx, family.AccountNeeds{})
			cancel()
			said := fmt.Sprintf("%v %+v", err, found)
			if reached := hits.Load() > before || spec.Type == "static" && !strings.Contains(said, "can't connect to"); reached != c.reached {
				t.Errorf("%s, %s: reached %t: %s", name, what, reached, said)
			}
			if !c.reached && strings.Contains(said, "the secret of the inside") {
				t.Errorf("%s, %s: the answer is shown: %s", name, what, said)
			}
			if closer, ok := p.(family.ProviderCloser); ok {
				_ = closer.Close()
			}
		}
	}
}

func ecdsaPEM(t *testing.T) string {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b}))
}

func publicLine(t *testing.T, key string) string {
	line, err := account.PublicLine([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return line
}

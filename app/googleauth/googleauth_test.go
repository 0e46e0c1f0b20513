package googleauth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"muster/app/googleauth"
)

// credentialsAt writes a service account's key whose tokens a server issues, and names it in the environment.
func credentialsAt(t *testing.T, server string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "p", "client_email": "muster@p.iam.gserviceaccount.com", "token_uri": server,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

func TestDefault(t *testing.T) {
	status := http.StatusOK
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"access_token": "token", "token_type": "Bearer", "expires_in": 3600, "error": "no"}`)
	}))
	t.Cleanup(issuer.Close)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("asked with %v", r.Header)
		}
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	t.Cleanup(service.Close)
	credentialsAt(t, issuer.URL)
	for _, c := range []struct {
		status  int
		refused bool
	}{{http.StatusBadRequest, true}, {http.StatusUnauthorized, true}, {http.StatusForbidden, true}, {http.StatusServiceUnavailable, false}, {http.StatusOK, false}} {
		status = c.status
		over, domain, err := googleauth.Default(t.Context(), http.DefaultTransport, "")
		if err != nil || domain != "googleapis.com" {
			t.Fatal(domain, err)
		}
		answer, err := googleauth.Client(over).Get(service.URL)
		if err == nil {
			if _ = answer.Body.Close(); answer.StatusCode != http.StatusFound {
				t.Errorf("a redirect was followed to %s", answer.Request.URL)
			}
		}
		if (err == nil) != (c.status == http.StatusOK) || googleauth.Refused(err) != c.refused {
			t.Errorf("%d: %v, refused: %t", c.status, err, googleauth.Refused(err))
		}
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
	if _, _, err := googleauth.Default(t.Context(), http.DefaultTransport, ""); err == nil {
		t.Error("a file that is not there has credentials")
	}
}

func TestDomainThatIsNamed(t *testing.T) {
	credentialsAt(t, "http://127.0.0.1:1")
	if _, domain, err := googleauth.Default(t.Context(), http.DefaultTransport, "cloud.example"); err != nil || domain != "cloud.example" {
		t.Error(domain, err)
	}
}

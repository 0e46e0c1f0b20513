//go:build !small

package kms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"muster/app"
)

type azureToken struct{ err error }

func (a azureToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, a.err
}

// elsewhere sends requests for any host to one server.
type elsewhere struct{ host string }

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", e.host
	return http.DefaultTransport.RoundTrip(r)
}

func TestKeyInAzure(t *testing.T) {
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.microsoftonline.com/t", resource="https://vault.azure.net"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var in struct{ Alg, Value string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		switch {
		case status != http.StatusOK:
			fmt.Fprint(w, `{"error": {"code": "No", "message": "no"}}`)
		case r.URL.Path == "/keys/k/7/encrypt" && in.Alg == "RSA-OAEP-256" && in.Value == "a2V5":
			fmt.Fprint(w, `{"kid": "k", "value": "AAEC_w"}`)
		case r.URL.Path == "/keys/k/7/decrypt" && in.Alg == "RSA-OAEP-256" && in.Value == "AAEC_w":
			fmt.Fprint(w, `{"kid": "k", "value": "a2V5"}`)
		default:
			t.Errorf("%s, %v", r.URL.Path, in)
		}
	}))
	t.Cleanup(srv.Close)
	u, _ := url.Parse("azurekeyvault://v.vault.azure.net/keys/k/7")
	s, err := newAzureKey(u, azureToken{}, elsewhere{srv.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	k := &Key{name: "k", service: s}
	wrapped, err := k.Wrap(t.Context(), []byte("key"))
	if err != nil || string(wrapped) != "\x00\x01\x02\xff" {
		t.Errorf("%q, %v", wrapped, err)
	}
	if key, err := k.Unwrap(t.Context(), wrapped); err != nil || string(key) != "key" {
		t.Errorf("%q, %v", key, err)
	}
	for _, c := range []struct {
		status int
		want   app.Code
	}{{400, app.EConflict}, {403, app.ECredentials}, {404, app.EInvalid}, {409, app.ETransient}} {
		status = c.status
		if _, err := k.Unwrap(t.Context(), wrapped); app.CodeOf(err) != c.want {
			t.Errorf("%d: %v, want %s", c.status, err, c.want)
		}
	}
	if s, err = newAzureKey(u, azureToken{errors.New("no identity")}, elsewhere{srv.Listener.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Key{name: "k", service: s}).Wrap(t.Context(), []byte("key")); app.CodeOf(err) != app.ECredentials {
		t.Errorf("without credentials: %v", err)
	}
}

package kms

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"cloud.google.com/go/auth"

	"muster/app"
	"muster/app/googleauth"
)

type tokens struct{}

func (tokens) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: "token", Type: "Bearer", Expiry: time.Now().Add(time.Hour)}, nil
}

// A key in Google Cloud KMS is asked by REST, and errors get their codes.
func TestKeyInGoogle(t *testing.T) {
	const name = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.WriteHeader(status)
		switch {
		case r.Header.Get("Authorization") != "Bearer token" || in["additionalAuthenticatedData"] != "YWFk":
			t.Errorf("%v, %v", r.Header, in)
		case status != http.StatusOK:
			fmt.Fprintf(w, `{"error": {"code": %d, "message": "no"}}`, status)
		case r.URL.Path == "/v1/"+name+":encrypt" && in["plaintext"] == "a2V5":
			fmt.Fprint(w, `{"name": "k/1", "ciphertext": "AAEC/w==", "ciphertextCrc32c": "1"}`)
		case r.URL.Path == "/v1/"+name+":decrypt" && in["ciphertext"] == "AAEC/w==":
			fmt.Fprint(w, `{"plaintext": "a2V5"}`)
		default:
			t.Errorf("%s, %v", r.URL.Path, in)
		}
	}))
	t.Cleanup(srv.Close)
	u, _ := url.Parse("gcpkms://" + name + "?additional_authenticated_data=YWFk")
	got, data, err := googleKeyOf(u)
	if err != nil || got != name {
		t.Fatal(got, err)
	}
	creds := auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: tokens{}})
	k := &Key{name: "k", service: &googleKey{client: &http.Client{Transport: googleauth.Transport(http.DefaultTransport, creds)},
		where: srv.URL + "/v1/" + name, data: data}}
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
	}{{400, app.EConflict}, {401, app.ECredentials}, {403, app.ECredentials}, {404, app.EInvalid}, {500, app.ETransient}} {
		status = c.status
		if _, err := k.Unwrap(t.Context(), wrapped); app.CodeOf(err) != c.want {
			t.Errorf("%d: %v, want %s", c.status, err, c.want)
		}
	}
	for _, bad := range []string{"gcpkms://" + name + "?color=blue", "gcpkms://" + name + "?additional_authenticated_data=*", "gcpkms://k",
		"gcpkms://" + name + "/cryptoKeyVersions/1"} {
		if _, err := Open(t.Context(), bad); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestMissingGoogleCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
	if _, err := Open(t.Context(), "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k"); app.CodeOf(err) != app.ECredentials {
		t.Error(err)
	}
}

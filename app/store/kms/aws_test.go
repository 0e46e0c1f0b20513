//go:build !small

package kms_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"muster/app"
	"muster/app/store/kms"
)

// TestKeyInAWS wraps by a key in AWS KMS, whose answers come in pieces: what the SDK does to a request's body by then does not cut them off.
func TestKeyInAWS(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Plaintext, CiphertextBlob []byte }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, _ := json.Marshal(map[string]any{"KeyId": "k", "CiphertextBlob": in.Plaintext, "Plaintext": in.CiphertextBlob})
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.Header().Set("Content-Length", fmt.Sprint(len(out)))
		for _, piece := range [][]byte{out[:1], out[1:20], out[20:]} {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	k, err := kms.Open(t.Context(), "awskms:///alias/muster?region=eu-test-1&endpoint="+srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	const rounds, size = 60, 8000 // longer than what net/http sends at once
	for i := range rounds {
		key := make([]byte, size)
		wrapped, err := k.Wrap(t.Context(), key)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if back, err := k.Unwrap(t.Context(), wrapped); err != nil || len(back) != size {
			t.Fatalf("%d: %d bytes, %v", i, len(back), err)
		}
	}
	// Where bodies were cut off, nearly each call needed a connection of its own. A busy host may need some more than one.
	if n := opened.Load(); n > rounds/2 {
		t.Errorf("%d connections for %d calls one after the other: their bodies are cut off", n, 2*rounds)
	}
}

// Errors of AWS KMS have the status 400 for nearly everything: their codes tell what is wrong.
func TestAWSErrors(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	var said, asked string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			KeyID             string `json:"KeyId"`
			EncryptionContext map[string]string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		asked = in.KeyID + " " + in.EncryptionContext["app"]
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"__type": %q, "message": "no"}`, said)
	}))
	t.Cleanup(srv.Close)
	const arn = "arn:aws:kms:eu-test-1:1:key/k"
	k := open(t, "awskms:///"+arn+"?region=eu-test-1&context_app=muster&endpoint="+srv.URL)
	for code, want := range map[string]app.Code{"AccessDeniedException": app.ECredentials, "ExpiredTokenException": app.ECredentials,
		"NotFoundException": app.EInvalid, "InvalidCiphertextException": app.EConflict, "IncorrectKeyException": app.EConflict,
		"KMSInvalidStateException": app.ETransient} {
		said = code
		_, err := k.Unwrap(t.Context(), []byte("wrapped"))
		if app.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	said = "AccessDeniedException"
	if _, err := k.Wrap(t.Context(), []byte("key")); app.CodeOf(err) != app.ECredentials || asked != arn+" muster" {
		t.Errorf("asked with %q: %v", asked, err)
	}
}

func TestMissingAWSCredentials(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	_, err := open(t, "awskms://alias/muster?region=eu-test-1&endpoint=http://127.0.0.1:1").Wrap(t.Context(), []byte("key"))
	code(t, err, app.ECredentials)
}

func TestInvalidURLsOfLargeServices(t *testing.T) {
	for _, bad := range []string{"awskms://k?color=blue", "awskms://k?fips=maybe", "awskms://k?role=me", "awskms://k?request_checksum_calculation=never",
		"awskms://k?region=a&region=b",
		"awskms://", "azurekeyvault://v.vault.azure.net/keys/k?color=blue", "azurekeyvault://example.com/keys/k", "azurekeyvault://v.vault.azure.net/k"} {
		_, err := kms.Open(t.Context(), bad)
		code(t, err, app.EInvalid)
	}
}

package kms_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"muster/app"
	"muster/app/store/kms"
)

// The form in which a wrapped key is kept is the text that Vault returns, and requests are the ones that Vault's own client sends.
func TestVaultFormat(t *testing.T) {
	const wrapped = "vault:v1:AbCd+/=="
	t.Setenv("VAULT_NAMESPACE", "team")
	t.Setenv("VAULT_HEADERS", `{"X-Proxy": "yes"}`)
	answer := func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		h := r.Header
		for name, want := range map[string]string{"X-Vault-Token": "right", "X-Vault-Request": "true", "X-Vault-Namespace": "team", "X-Proxy": "yes"} {
			if r.Method != http.MethodPut || h.Get(name) != want {
				t.Errorf("%s with %s: %q, want %q", r.Method, name, h.Get(name), want)
			}
		}
		switch {
		case r.URL.Path == "/below/v1/sealing/encrypt/team/muster" && in["plaintext"] == "a2V5":
			fmt.Fprintf(w, `{"data": {"ciphertext": %q, "key_version": 1}}`, wrapped)
		case r.URL.Path == "/below/v1/sealing/decrypt/team/muster" && in["ciphertext"] == wrapped:
			fmt.Fprint(w, `{"data": {"plaintext": "a2V5"}}`)
		default:
			t.Errorf("%s %v", r.URL.Path, in)
		}
	}
	try := func(t *testing.T) {
		k := open(t, "hashivault://team/muster?engine=sealing")
		got, err := k.Wrap(t.Context(), []byte("key"))
		if err != nil || string(got) != wrapped {
			t.Errorf("%q, %v", got, err)
		}
		if key, err := k.Unwrap(t.Context(), []byte(wrapped)); err != nil || string(key) != "key" {
			t.Errorf("%q, %v", key, err)
		}
	}
	t.Setenv("VAULT_SERVER_URL", "")
	t.Setenv("VAULT_SERVER_TOKEN", "")
	t.Setenv("VAULT_TOKEN", "right")
	srv := httptest.NewTLSServer(http.HandlerFunc(answer))
	t.Cleanup(srv.Close)
	standby := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, srv.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(standby.Close)
	for name, where := range map[string]string{"active": srv.URL, "standby": standby.URL} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("VAULT_ADDR", where+"/below")
			file := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := open(t, "hashivault://muster").Wrap(t.Context(), []byte("key"))
			code(t, err, app.ETransient) // the certificate is of an unknown authority
			for variable, value := range map[string]string{"VAULT_CACERT": file, "VAULT_CAPATH": filepath.Dir(file), "VAULT_SKIP_VERIFY": "true"} {
				t.Run(variable, func(t *testing.T) {
					t.Setenv(variable, value)
					try(t)
				})
			}
		})
	}
}

func TestVaultSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data": {"ciphertext": "vault:v1:x"}}`)
	}))
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	t.Setenv("VAULT_SERVER_URL", "unix://"+filepath.Join(dir, "s"))
	if w, err := open(t, "hashivault://muster").Wrap(t.Context(), []byte("key")); err != nil || string(w) != "vault:v1:x" {
		t.Errorf("%q, %v", w, err)
	}
}

func TestVaultErrors(t *testing.T) {
	var status int
	var said string
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 && status == http.StatusOK {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, said)
	}))
	t.Cleanup(srv.Close)
	t.Setenv("VAULT_SERVER_URL", srv.URL)
	k := open(t, "hashivault://muster")
	for _, c := range []struct {
		status int
		said   string
		want   app.Code
	}{
		{403, `{"errors": ["permission denied"]}`, app.ECredentials},
		{404, `{"errors": ["no handler for route"]}`, app.EInvalid},
		{400, `{"errors": ["encryption key not found"]}`, app.EInvalid},
		{400, `{"errors": ["invalid ciphertext: no prefix"]}`, app.EConflict},
		{400, `{"errors": ["cipher: message authentication failed"]}`, app.EConflict},
		{400, `{"errors": ["missing client token"]}`, app.ECredentials},
		{400, `{"errors": ["ciphertext or signature version is disallowed by policy (too old)"]}`, app.ETransient},
		{501, `{}`, app.ETransient},
		{204, ``, app.ETransient},
	} {
		status, said = c.status, c.said
		_, err := k.Unwrap(t.Context(), []byte("vault:v1:x"))
		code(t, err, c.want)
	}
	for _, text := range []string{`{}`, `{"data": {"plaintext": 5}}`, `not Vault`} {
		asked.Store(0)
		status, said = 200, text
		_, err := k.Unwrap(t.Context(), []byte("vault:v1:x"))
		code(t, err, app.ETransient)
	}
	asked.Store(0)
	status, said = 200, `{"data": {"plaintext": "a2V5"}}`
	if key, err := k.Unwrap(t.Context(), []byte("vault:v1:x")); err != nil || string(key) != "key" || asked.Load() != 2 {
		t.Errorf("%q, %v after %d requests, want 2", key, err, asked.Load())
	}
}

func TestInvalidVaultSettings(t *testing.T) {
	t.Setenv("VAULT_SERVER_URL", "http://127.0.0.1:1")
	for _, bad := range []string{"hashivault://", "hashivault://k?color=blue", "hashivault://k?engine=a&engine=b"} {
		_, err := kms.Open(t.Context(), bad)
		code(t, err, app.EInvalid)
	}
	for name, value := range map[string]string{"VAULT_SERVER_URL": "vault", "VAULT_CACERT": "/nowhere", "VAULT_CACERT_BYTES": "none",
		"VAULT_CAPATH": "/nowhere", "VAULT_CLIENT_CERT": "/nowhere",
		"VAULT_SKIP_VERIFY": "perhaps", "VAULT_MAX_RETRIES": "many", "VAULT_CLIENT_TIMEOUT": "long", "VAULT_HEADERS": `{"X-Vault-Token": "x"}`} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := kms.Open(t.Context(), "hashivault://k")
			code(t, err, app.EInvalid)
		})
	}
}

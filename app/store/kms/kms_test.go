package kms_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/kms"
	"muster/app/store/storetest"
)

var _ db.KeyKeeper = (*kms.Key)(nil)

func keyURL(b string) string {
	return "base64key://" + base64.URLEncoding.EncodeToString([]byte(strings.Repeat(b, 32)))
}

func open(t *testing.T, where string) *kms.Key {
	t.Helper()
	k, err := kms.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func code(t *testing.T, err error, want app.Code) {
	t.Helper()
	if app.CodeOf(err) != want {
		t.Errorf("%v is %s, not %s", err, app.CodeOf(err), want)
	}
}

func TestKeyInTheURL(t *testing.T) {
	one, two := open(t, keyURL("1")), open(t, keyURL("2"))
	w, err := one.Wrap(t.Context(), []byte("data key"))
	if err != nil {
		t.Fatal(err)
	}
	if key, err := one.Unwrap(t.Context(), w); err != nil || string(key) != "data key" {
		t.Errorf("%q, %v", key, err)
	}
	_, err = two.Unwrap(t.Context(), w)
	code(t, err, app.EConflict)
	for _, short := range []string{"", "short"} {
		_, err = one.Unwrap(t.Context(), []byte(short))
		code(t, err, app.EConflict)
	}
	if one.Name() == two.Name() || strings.Contains(one.Name(), strings.TrimPrefix(keyURL("1"), "base64key://")) {
		t.Errorf("names %q and %q", one.Name(), two.Name())
	}
	for _, bad := range []string{"base64key://short", keyURL("1") + "?color=blue", "base64key://", "nokms://x", "just text", ""} {
		_, err := kms.Open(t.Context(), bad)
		code(t, err, app.EInvalid)
	}
}

// What earlier versions of Muster wrapped, by a library that it no longer has, is still unwrapped.
func TestOldWrappedKey(t *testing.T) {
	old, err := base64.StdEncoding.DecodeString("SPHm4GX4K3GGR0jWdDMmOc4ldRFox8Zo2qvNEaJi3t2tSCfB38cmvrFWJZQctHbo")
	if err != nil {
		t.Fatal(err)
	}
	if key, err := open(t, keyURL("1")).Unwrap(t.Context(), old); err != nil || string(key) != "data key" {
		t.Errorf("%q, %v", key, err)
	}
}

// vault is the transit engine as far as we use it.
type vault struct {
	*httptest.Server
	token  string
	status int
	hang   bool
	over   chan struct{}
	key    string // of the ciphertexts that it knows
}

func newVault(t *testing.T) *vault {
	v := &vault{key: "v1", token: "right", over: make(chan struct{})}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Plaintext, Ciphertext string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		fail := func(status int, why string) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []string{why}})
		}
		switch {
		case v.hang:
			select {
			case <-v.over:
			case <-r.Context().Done():
			}
		case r.Header.Get("X-Vault-Token") != v.token:
			fail(http.StatusForbidden, "permission denied")
		case v.status != 0:
			fail(v.status, "no")
		case r.URL.Path == "/v1/transit/encrypt/muster":
			_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]string{"ciphertext": "vault:" + v.key + ":" + in.Plaintext}})
		case r.URL.Path == "/v1/transit/decrypt/muster":
			text, ok := strings.CutPrefix(in.Ciphertext, "vault:"+v.key+":")
			if !ok {
				fail(http.StatusBadRequest, "cipher: message authentication failed")
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]string{"plaintext": text}})
		default:
			fail(http.StatusNotFound, "unsupported path")
		}
	}))
	t.Cleanup(v.Close)
	t.Setenv("VAULT_SERVER_URL", v.URL)
	t.Setenv("VAULT_SERVER_TOKEN", "right")
	t.Setenv("VAULT_MAX_RETRIES", "0")
	return v
}

// A server's whole way with a key in Vault: made, opened again, refused with words where the service refuses or is away.
func TestStoreWithAKeyInVault(t *testing.T) {
	v := newVault(t)
	file := storetest.File(t)
	begin := func() error {
		k, err := kms.Open(t.Context(), "hashivault://muster")
		if err != nil {
			return err
		}
		defer k.Close()
		s, err := store.OpenWith(t.Context(), file, k)
		if err != nil {
			return err
		}
		return s.Close()
	}
	for range 2 {
		if err := begin(); err != nil {
			t.Fatal(err)
		}
	}
	v.key = "another"
	code(t, begin(), app.EConflict)
	v.key = "v1"
	v.status = http.StatusServiceUnavailable
	code(t, begin(), app.ETransient)
	v.status = 0
	v.token = "another"
	err := begin()
	code(t, err, app.ECredentials)
	if e := app.AsError(err); !strings.Contains(e.Message, "hashivault://muster") || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	v.token, v.hang = "right", true
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = open(t, "hashivault://muster").Wrap(ctx, []byte("key"))
	code(t, err, app.ETimeout)
	close(v.over)
	v.Close()
	code(t, begin(), app.ETransient)
	if err := begin(); err != nil && strings.Contains(app.AsError(err).Message, v.URL) {
		t.Error(err)
	}
}

package kms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"muster/app/cloudurl"
	"muster/app/retry"
)

// vaultKey is a key of the transit engine of Vault, by its HTTP API. What it wraps is the text vault:v1:… that Vault returns.
type vaultKey struct {
	client *http.Client
	base   *url.URL // of the engine
	key    string
	header http.Header
}

// openVault takes the address, the token and how to connect from the same variables as Vault's own tools.
func openVault(_ context.Context, u *url.URL) (service, error) {
	p := cloudurl.Of(u)
	engine := p.Text("engine")
	if err := p.Err(); err != nil {
		return nil, err
	}
	if engine == "" {
		engine = "transit"
	}
	k := &vaultKey{key: strings.Trim(path.Join(u.Host, u.Path), "/"), header: http.Header{"X-Vault-Request": {"true"}}}
	if k.key == "" {
		return nil, cloudurl.Invalid("A hashivault:// URL must name a key, such as hashivault://muster.")
	}
	where := envOf("VAULT_SERVER_URL", "VAULT_ADDR")
	if where == "" {
		e := cloudurl.Invalid("Vault's address is missing.")
		e.Hint = "Set VAULT_SERVER_URL."
		return nil, e
	}
	base, err := url.Parse(where)
	if err != nil || base.Scheme != "unix" && (base.Host == "" || base.Scheme != "https" && base.Scheme != "http") {
		return nil, wrongVariable("VAULT_SERVER_URL or VAULT_ADDR", "an address such as https://vault.example.com:8200", nil)
	}
	socket := ""
	if base.Scheme == "unix" {
		socket, base = base.Path, &url.URL{Scheme: "http", Host: "localhost"}
	}
	k.base = base.JoinPath("v1", engine)
	if err := k.headers(); err != nil {
		return nil, err
	}
	k.client, err = vaultClient(socket)
	return k, err
}

func envOf(names ...string) string {
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func wrongVariable(name, want string, err error) error {
	e := cloudurl.Invalid("The variable %s must be %s.", name, want)
	e.Err = err
	return e
}

func (k *vaultKey) headers() error {
	if text := os.Getenv("VAULT_HEADERS"); text != "" {
		var more map[string]string
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			return wrongVariable("VAULT_HEADERS", "a JSON object with text values", nil)
		}
		for name, value := range more {
			if strings.HasPrefix(http.CanonicalHeaderKey(name), "X-Vault-") {
				return wrongVariable("VAULT_HEADERS", "without Vault's own headers, which start with X-Vault-", nil)
			}
			k.header.Set(name, value)
		}
	}
	if token := envOf("VAULT_SERVER_TOKEN", "VAULT_TOKEN"); token != "" {
		k.header.Set("X-Vault-Token", token)
	}
	if space := os.Getenv("VAULT_NAMESPACE"); space != "" {
		k.header.Set("X-Vault-Namespace", space)
	}
	return nil
}

// vaultClient makes a client of what the environment says about connections.
func vaultClient(socket string) (*http.Client, error) {
	transport := retry.Transport()
	if err := vaultTLS(transport); err != nil {
		return nil, err
	}
	if socket != "" {
		dialSocket(transport, socket)
	}
	if text := envOf("VAULT_PROXY_ADDR", "VAULT_HTTP_PROXY"); text != "" {
		proxy, err := url.Parse(text)
		if err != nil {
			return nil, wrongVariable("VAULT_PROXY_ADDR or VAULT_HTTP_PROXY", "an address", nil)
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	retries := uint64(2)
	if text := os.Getenv("VAULT_MAX_RETRIES"); text != "" {
		var err error
		if retries, err = strconv.ParseUint(text, 10, 16); err != nil {
			return nil, wrongVariable("VAULT_MAX_RETRIES", "a number", nil)
		}
	}
	limit, err := vaultTime(os.Getenv("VAULT_CLIENT_TIMEOUT"))
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: retry.Again(transport, int(retries)+1, 300*time.Millisecond), Timeout: limit, CheckRedirect: vaultRedirect}, nil
}

// vaultTime reads seconds or a duration such as 3s; 0 is no limit but the one on every call to a key service.
func vaultTime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, wrongVariable("VAULT_CLIENT_TIMEOUT", "a number of seconds or a duration such as 3s", nil)
	}
	return d, nil
}

// vaultRedirect follows a standby server to the active one, with the token, but never out of TLS.
func vaultRedirect(r *http.Request, before []*http.Request) error {
	if len(before) > 1 || before[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}

type vaultAnswer struct {
	Data struct {
		Ciphertext string `json:"ciphertext"`
		Plaintext  []byte `json:"plaintext"`
	} `json:"data"`
}

func (k *vaultKey) call(ctx context.Context, act string, in any) (out vaultAnswer, err error) {
	err = post(ctx, k.client, http.MethodPut, k.base.JoinPath(act, k.key).String(), k.header, in, &out)
	return out, err
}

func (k *vaultKey) wrap(ctx context.Context, key []byte) ([]byte, error) {
	out, err := k.call(ctx, "encrypt", map[string][]byte{"plaintext": key})
	return []byte(out.Data.Ciphertext), err
}

func (k *vaultKey) unwrap(ctx context.Context, wrapped []byte) ([]byte, error) {
	out, err := k.call(ctx, "decrypt", map[string]string{"ciphertext": string(wrapped)})
	var a *answered
	if errors.As(err, &a) && a.status == http.StatusBadRequest {
		if kind := ofVault(a.text); kind != nil {
			err = fmt.Errorf("%w: %w", kind, err)
		}
	}
	return out.Data.Plaintext, err
}

// ofVault tells apart why Vault does not decrypt, which it only says in words; nil: for another reason.
func ofVault(text string) error {
	for _, words := range []string{"invalid ciphertext", "message authentication failed", "unable to decrypt", "decryption failed", "incorrect key"} {
		if strings.Contains(text, words) {
			return errOtherKey
		}
	}
	if strings.Contains(text, "key not found") {
		return errNoKey
	}
	if strings.Contains(text, "missing client token") {
		return errRefused
	}
	return nil
}

func (k *vaultKey) close() { k.client.CloseIdleConnections() }

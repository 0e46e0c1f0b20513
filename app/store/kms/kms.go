package kms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

// local is the scheme of a key that is in the URL itself.
const local = "base64key"

// service wraps by a key in a service. Its errors wrap errRefused, errNoKey or errOtherKey where the service says so.
type service interface {
	wrap(ctx context.Context, key []byte) ([]byte, error)
	unwrap(ctx context.Context, wrapped []byte) ([]byte, error)
	close()
}

type opener func(ctx context.Context, u *url.URL) (service, error)

var (
	// services are in every build. Those in largeServices need large SDKs, which a small build does without.
	services = map[string]opener{local: openLocal, "gcpkms": openGoogle, "hashivault": openVault}

	openers = merged(services, largeServices)
)

// Schemes are those of the services that this build has, sorted.
var Schemes = slices.Sorted(maps.Keys(openers))

func merged(all ...map[string]opener) map[string]opener {
	one := map[string]opener{}
	for _, m := range all {
		maps.Copy(one, m)
	}
	return one
}

// callTime is how long one call may take, with all that is tried again.
const callTime = 5 * time.Second

// Key is a key in a service. Close it.
type Key struct {
	service service
	name    string
	local   bool
}

const setting = "MUSTER_SECRET_KEY"

// Open finds the key that a URL names, such as awskms://alias/muster?region=eu-central-1,
// gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K, azurekeyvault://VAULT.vault.azure.net/keys/K, or hashivault://KEY
// (with VAULT_SERVER_URL and VAULT_SERVER_TOKEN in the environment). Whether it can be used shows at the first use.
func Open(ctx context.Context, where string) (*Key, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" {
		return nil, invalid("Invalid key URL.")
	}
	if slices.Contains(LeftOut, u.Scheme) {
		return nil, &app.Error{Code: app.EInvalid, Field: setting, Message: "This small build of Muster has no support for " + u.Scheme + "://.",
			Hint: family.FullBuildHint}
	}
	open := openers[u.Scheme]
	if open == nil {
		return nil, invalid(fmt.Sprintf("Unsupported key service %q.", u.Scheme))
	}
	k := &Key{name: name(u), local: u.Scheme == local}
	if k.service, err = open(ctx, u); err == nil {
		return k, nil
	}
	if known := (*app.Error)(nil); errors.As(err, &known) {
		known.Field = setting
		return nil, known
	}
	return nil, k.problem("open", err)
}

func invalid(message string) error {
	return &app.Error{Code: app.EInvalid, Field: setting, Message: message,
		Hint: "Use 64 hex digits, file:///PATH of a file with them, or a URL that starts with " + strings.Join(Schemes, "://, ") + "://."}
}

// name leaves out all that may be secret.
func name(u *url.URL) string {
	if u.Scheme == local {
		sum := sha256.Sum256([]byte("the name of a key of muster: " + u.Host))
		return local + " " + hex.EncodeToString(sum[:6])
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// Name tells the key from others.
func (k *Key) Name() string { return k.name }

// Close lets go of connections.
func (k *Key) Close() error {
	k.service.close()
	return nil
}

// Wrap encrypts a data key.
func (k *Key) Wrap(ctx context.Context, key []byte) ([]byte, error) {
	return k.call(ctx, "wrap", k.service.wrap, key)
}

// Unwrap returns the data key.
func (k *Key) Unwrap(ctx context.Context, wrapped []byte) ([]byte, error) {
	return k.call(ctx, "unwrap", k.service.unwrap, wrapped)
}

func (k *Key) call(ctx context.Context, act string, f func(context.Context, []byte) ([]byte, error), in []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	out, err := f(ctx, in)
	if err == nil && len(out) == 0 {
		err = errors.New("the answer is empty")
	}
	if err != nil {
		return nil, k.problem(act, err)
	}
	return out, nil
}

var (
	errRefused  = errors.New("access to the key was denied")
	errNoKey    = errors.New("the key doesn't exist")
	errOtherKey = errors.New("the data key is encrypted with another key")
)

// ofStatus translates an HTTP status.
func ofStatus(status int, err error) error {
	switch status {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", errNoKey, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

var longQuery = regexp.MustCompile(`\?[^\s"]*`)

func (k *Key) problem(act string, err error) error {
	e := &app.Error{Err: fmt.Errorf("kms: %s %s: %s", act, k.name, longQuery.ReplaceAllString(err.Error(), "?…"))}
	var timeout net.Error
	switch {
	case act == "unwrap" && (k.local || errors.Is(err, errOtherKey)):
		e.Code, e.Reason, e.Message = app.EConflict, "wrong_key", "The data key is encrypted with another key."
	case errors.Is(err, errRefused):
		e.Code, e.Message = app.ECredentials, "The key service denied this server access to the key."
		e.Hint = "Grant the server permission to encrypt and decrypt with the key, with credentials in a form that the service's own tools read."
	case errors.Is(err, errNoKey):
		e.Code, e.Message = app.EInvalid, "The key service has no such key."
		e.Hint = "Check the URL in MUSTER_SECRET_KEY."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Code, e.Message = app.ETimeout, "The key service didn't respond in time."
		e.Hint = "Check that this host can reach the key service. Muster tries again at the next start."
	default:
		e.Code, e.Message = app.ETransient, "The key service returned an unexpected response."
		e.Hint = "Check that this host can reach the key service. Muster tries again at the next start."
	}
	return e
}

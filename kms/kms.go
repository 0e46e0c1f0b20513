package kms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/gcerrors"
	"gocloud.dev/secrets"
	"gocloud.dev/secrets/awskms"

	// The drivers, each of which registers its scheme.
	_ "gocloud.dev/secrets/azurekeyvault"
	_ "gocloud.dev/secrets/gcpkms"
	_ "gocloud.dev/secrets/hashivault"
	_ "gocloud.dev/secrets/localsecrets"

	"muster/app"
)

// local is the scheme of a key that stands in the URL itself.
const local = "base64key"

// Schemes are those of the services, sorted.
var Schemes = []string{"awskms", "azurekeyvault", local, "gcpkms", "hashivault"}

// callTime is how long one call may take.
const callTime = 5 * time.Second

// Key is a key in a service. Close it.
type Key struct {
	keeper *secrets.Keeper
	name   string
	local  bool
}

// Open finds the key that a URL names, such as awskms://alias/muster?region=eu-central-1,
// gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K, azurekeyvault://VAULT.vault.azure.net/keys/K, or hashivault://KEY
// (with VAULT_SERVER_URL and VAULT_SERVER_TOKEN in the environment). Whether it can be used shows at the first use.
func Open(ctx context.Context, where string) (*Key, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" {
		return nil, invalid("That is not the URL of a key.")
	}
	k := &Key{name: name(u), local: u.Scheme == local}
	if u.Scheme == awskms.Scheme {
		k.keeper, err = openAWS(ctx, u)
	} else {
		k.keeper, err = secrets.OpenKeeper(ctx, where)
	}
	if err != nil {
		if !known(u.Scheme) {
			return nil, invalid(fmt.Sprintf("Key services of the kind %q are not known.", u.Scheme))
		}
		if k.local {
			return nil, invalid("A base64key:// URL holds 32 bytes in base64 (URL form).")
		}
		return nil, k.problem("open", err)
	}
	return k, nil
}

func invalid(message string) error {
	return &app.Error{Code: app.EInvalid, Field: "MUSTER_SECRET_KEY", Message: message,
		Hint: "Give 64 hex digits, file:///PATH of a file with them, or a URL that begins with " + strings.Join(Schemes, "://, ") + "://."}
}

func known(scheme string) bool {
	for _, s := range Schemes {
		if s == scheme {
			return true
		}
	}
	return false
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
func (k *Key) Close() error { return k.keeper.Close() }

// Wrap encrypts a data key.
func (k *Key) Wrap(ctx context.Context, key []byte) ([]byte, error) {
	return k.call(ctx, "wrap", func(ctx context.Context) ([]byte, error) { return k.keeper.Encrypt(ctx, key) })
}

// Unwrap gives the data key back.
func (k *Key) Unwrap(ctx context.Context, wrapped []byte) ([]byte, error) {
	return k.call(ctx, "unwrap", func(ctx context.Context) ([]byte, error) { return k.keeper.Decrypt(ctx, wrapped) })
}

// call waits no longer than it may: the driver of Vault does not look at its context.
func (k *Key) call(ctx context.Context, act string, f func(context.Context) ([]byte, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	type result struct {
		out []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil { // the same driver takes every answer for one of Vault
				r.err = fmt.Errorf("the answer is not understood: %v", p)
			}
			done <- r
		}()
		r.out, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, k.problem(act, r.err)
		}
		return r.out, nil
	case <-ctx.Done():
		return nil, k.problem(act, ctx.Err())
	}
}

// Services name what is wrong in words of their own, which the library passes on as text.
var (
	refusal   = regexp.MustCompile(`(?i)access ?denied|forbidden|permission denied|unauthori[sz]ed|unauthenticated|invalid ?client|unrecognizedclient|expired ?token|invalid ?token|missing client token|credential|Code: 40[13]|StatusCode: 40[13]`)
	otherKey  = regexp.MustCompile(`(?i)invalid ?ciphertext|incorrect ?key|invalid ciphertext|message authentication failed|decryption failed|BadParameter|could not decrypt`)
	longQuery = regexp.MustCompile(`\?[^\s"]*`)
)

func (k *Key) problem(act string, err error) error {
	e := &app.Error{Err: fmt.Errorf("kms: %s %s: %s", act, k.name, longQuery.ReplaceAllString(err.Error(), "?…"))}
	var timeout net.Error
	code := gcerrors.Code(err)
	switch text := err.Error(); {
	case k.local && act == "unwrap", act == "unwrap" && (code == gcerrors.InvalidArgument || otherKey.MatchString(text)):
		e.Code, e.Reason, e.Message = app.EConflict, "wrong_key", "The data key was wrapped by another key."
	case errors.Is(err, context.DeadlineExceeded), code == gcerrors.DeadlineExceeded, errors.As(err, &timeout) && timeout.Timeout():
		e.Code, e.Message = app.ETimeout, "The key service does not answer in time."
		e.Hint = "Can this host reach it? It is asked again at the next start."
	case code == gcerrors.PermissionDenied, refusal.MatchString(text):
		e.Code, e.Message = app.ECredentials, "The key service does not let this server use the key."
		e.Hint = "It needs the right to encrypt and to decrypt with the key, and credentials in the form that the service's own tools read."
	case code == gcerrors.NotFound:
		e.Code, e.Message = app.EInvalid, "The key service has no such key."
		e.Hint = "Look at the URL in MUSTER_SECRET_KEY."
	default:
		e.Code, e.Message = app.ETransient, "The key service does not answer as it should."
		e.Hint = "Can this host reach it? It is asked again at the next start."
	}
	return e
}

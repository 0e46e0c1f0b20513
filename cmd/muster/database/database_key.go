package database

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"muster/app"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/kms"
	"muster/cmd/muster/cli"
)

// DatabaseFile is the default database, in the data directory.
const DatabaseFile = "muster.db"

// KeyFile is the default key, in the data directory.
const KeyFile = "secret.key"

// keyKeeper is a key-encryption key that can be closed.
type keyKeeper interface {
	db.KeyKeeper
	Close() error
}

type localKeeper struct{ db.KeyKeeper }

func (localKeeper) Close() error { return nil }

var hexKey = regexp.MustCompile(`^[0-9a-fA-F]+$`)

// OpenKey returns the key-encryption key: hex digits, a file:///PATH with them, or the URL of a key service; by default, the file in
// the data directory. A missing file is created.
func OpenKey(ctx context.Context, named, data string) (k keyKeeper, made bool, err error) {
	file := filepath.Join(data, KeyFile)
	switch u, err := url.Parse(named); {
	case named == "":
	case hexKey.MatchString(named):
		k, err := parseKey(named)
		return k, false, err
	case err != nil || u.Scheme == "":
		return nil, false, badKey()
	case u.Scheme == "file":
		if file = u.Path; u.Host != "" || !filepath.IsAbs(file) {
			return nil, false, cli.Usagef("the secret key's file needs an absolute path").Hint("Use three slashes: file:///etc/muster/secret.key.")
		}
	default:
		k, err := kms.Open(ctx, named)
		if err != nil {
			return nil, false, err
		}
		return k, false, nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, store.KeySize)
		_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
		text := hex.EncodeToString(key)
		if err := cli.WritePrivate(file, []byte(text+"\n")); err != nil {
			return nil, false, fmt.Errorf("secret key: %w", err)
		}
		k, err := parseKey(text)
		return k, true, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("secret key: %w", err)
	}
	k, err = parseKey(strings.TrimSpace(string(b)))
	return k, false, err
}

func parseKey(text string) (keyKeeper, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != store.KeySize {
		return nil, badKey()
	}
	k, err := db.LocalKey(key)
	return localKeeper{k}, err
}

func badKey() error {
	return cli.Usagef("the secret key must be %d hex digits or a URL", 2*store.KeySize).
		Hint("Generate one: openssl rand -hex %d\nSupported URLs: file://, %s://.", store.KeySize, strings.Join(kms.Schemes, "://, "))
}

// ExistingKey opens a key without creating one.
func ExistingKey(ctx context.Context, named, data string) (keyKeeper, string, error) {
	file := filepath.Join(data, KeyFile)
	if u, err := url.Parse(named); err == nil && u.Scheme == "file" {
		file = u.Path
	} else if named != "" {
		k, _, err := OpenKey(ctx, named, data)
		return k, "", err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, file, &app.Error{Code: app.ENotFound, Reason: "no_key", Message: "Secret key " + file + " doesn't exist.", Hint: "Set MUSTER_SECRET_KEY to the servers' key, or copy its file there."}
	}
	k, _, err := OpenKey(ctx, named, data)
	return k, file, err
}

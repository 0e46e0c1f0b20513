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

// DatabaseFile is the database in the data directory, for whoever names no other.
const DatabaseFile = "muster.db"

// KeyFile is the key in the data directory, for whoever names no other.
const KeyFile = "secret.key"

// keyKeeper is a key-encryption key that is closed.
type keyKeeper interface {
	db.KeyKeeper
	Close() error
}

type localKeeper struct{ db.KeyKeeper }

func (localKeeper) Close() error { return nil }

var hexKey = regexp.MustCompile(`^[0-9a-fA-F]+$`)

// OpenKey returns the key-encryption key: hex digits, a file:///PATH with them, or a key in a service by its URL; where nothing is
// named, the file in the data directory. A file is made when it is absent.
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
			return nil, false, cli.Usagef("the secret key's file is not named by its whole path").Hint("Write file:///etc/muster/secret.key, with three slashes.")
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
	return cli.Usagef("the secret key is neither %d hex digits nor the URL of one", 2*store.KeySize).
		Hint("Make one with: openssl rand -hex %d\nURLs begin with file://, %s://.", store.KeySize, strings.Join(kms.Schemes, "://, "))
}

// ExistingKey opens a key that is there.
func ExistingKey(ctx context.Context, named, data string) (keyKeeper, string, error) {
	file := filepath.Join(data, KeyFile)
	if u, err := url.Parse(named); err == nil && u.Scheme == "file" {
		file = u.Path
	} else if named != "" {
		k, _, err := OpenKey(ctx, named, data)
		return k, "", err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, file, &app.Error{Code: app.ENotFound, Reason: "no_key", Message: "There is no secret key at " + file + ".", Hint: "Give the servers' own in MUSTER_SECRET_KEY, or put its file there."}
	}
	k, _, err := OpenKey(ctx, named, data)
	return k, file, err
}

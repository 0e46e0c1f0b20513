package main

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

	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/kms"
)

// keyFile is the key in the data directory, for whoever names no other.
const keyFile = "secret.key"

// keyKeeper is a key-encryption key that is closed.
type keyKeeper interface {
	db.KeyKeeper
	Close() error
}

type localKeeper struct{ db.KeyKeeper }

// Close implements keyKeeper.
func (localKeeper) Close() error { return nil }

var hexKey = regexp.MustCompile(`^[0-9a-fA-F]+$`)

// openKey gives the key-encryption key: hex digits, a file:///PATH with them, or a key in a service by its URL; where nothing is
// named, the file in the data directory. A file is made when it is absent.
func openKey(ctx context.Context, named, data string) (k keyKeeper, made bool, err error) {
	file := filepath.Join(data, keyFile)
	switch u, err := url.Parse(named); {
	case named == "":
	case hexKey.MatchString(named):
		k, err := parseKey(named)
		return k, false, err
	case err != nil || u.Scheme == "":
		return nil, false, badKey()
	case u.Scheme == "file":
		if file = u.Path; u.Host != "" || !filepath.IsAbs(file) {
			return nil, false, usagef("the secret key's file is not named by its whole path").hint("Write file:///etc/muster/secret.key, with three slashes.")
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
		if err := writePrivate(file, []byte(text+"\n")); err != nil {
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
	return usagef("the secret key is neither %d hex digits nor the URL of one", 2*store.KeySize).
		hint("Make one with: openssl rand -hex %d\nURLs begin with file://, %s://.", store.KeySize, strings.Join(kms.Schemes, "://, "))
}

package kms

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/url"

	"golang.org/x/crypto/nacl/secretbox"

	"muster/app/cloudurl"
)

// localKey seals in this process. What it wraps is a nonce and a box of NaCl.
type localKey [32]byte

const nonceSize = 24

func openLocal(_ context.Context, u *url.URL) (service, error) {
	if err := cloudurl.Of(u).Err(); err != nil {
		return nil, err
	}
	b, err := base64.URLEncoding.DecodeString(u.Host)
	if err != nil || len(b) != len(localKey{}) {
		return nil, cloudurl.Invalid("A base64key:// URL must contain 32 bytes in base64url.")
	}
	k := localKey(b)
	return &k, nil
}

func (k *localKey) wrap(_ context.Context, key []byte) ([]byte, error) {
	var nonce [nonceSize]byte
	_, _ = rand.Read(nonce[:]) // never fails: crypto/rand ends the process instead
	return secretbox.Seal(nonce[:], key, &nonce, (*[32]byte)(k)), nil
}

func (k *localKey) unwrap(_ context.Context, wrapped []byte) ([]byte, error) {
	if len(wrapped) < nonceSize {
		return nil, errOtherKey
	}
	nonce := [nonceSize]byte(wrapped)
	key, ok := secretbox.Open(nil, wrapped[nonceSize:], &nonce, (*[32]byte)(k))
	if !ok {
		return nil, errOtherKey
	}
	return key, nil
}

func (k *localKey) close() {}

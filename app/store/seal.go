package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
)

// KeySize is the length of the key that Open needs, in bytes.
const KeySize = 32

// sealer encrypts secret columns. The place (table and row) is authenticated with the text, so that a sealed value
// that was moved to another row does not open.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (sealer, error) {
	if len(key) != KeySize {
		return sealer{}, fmt.Errorf("store: the key must have %d bytes, not %d", KeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("store: key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return sealer{}, fmt.Errorf("store: key: %w", err)
	}
	return sealer{aead}, nil
}

// seal gives nonce and ciphertext; an empty secret stays empty.
func (s sealer) seal(secret []byte, place string) []byte {
	if len(secret) == 0 {
		return []byte{}
	}
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(secret)+s.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the process instead
	return s.aead.Seal(nonce, nonce, secret, []byte(place))
}

func (s sealer) open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	n := s.aead.NonceSize()
	if len(sealed) < n {
		return nil, fmt.Errorf("store: sealed value of %s is cut short", place)
	}
	secret, err := s.aead.Open(nil, sealed[:n], sealed[n:], []byte(place))
	if err != nil {
		return nil, fmt.Errorf("store: sealed value of %s does not open: was the database's key changed? %w", place, err)
	}
	return secret, nil
}

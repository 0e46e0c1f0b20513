package db

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"muster/app"
)

// KeySize is the length of the keys that values are sealed with, and of one that is given to Open, in bytes.
const KeySize = 32

// A sealed value is
//
//	mark (4 bytes) · number of the data key (8, big endian) · nonce (12) · AES-256-GCM of the secret
//
// Its head and its place (table and row) are authenticated with the text, so that a sealed value that was moved to another
// row does not open. Values of the first form, before there were data keys, are only nonce and text, sealed with the
// key-encryption key itself.
var encryptedPrefix = []byte{0, 'M', 'K', 1}

const (
	headSize  = 12
	nonceSize = 12
)

// headOf begins all that is sealed with a data key.
func headOf(id int64) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(encryptedPrefix), uint64(id))
}

// keyOf returns the number of the data key that a value was sealed with; 0 for the first form.
func keyOf(sealed []byte) int64 {
	if len(sealed) < headSize+nonceSize || !bytes.HasPrefix(sealed, encryptedPrefix) {
		return 0
	}
	return int64(binary.BigEndian.Uint64(sealed[len(encryptedPrefix):headSize]))
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("store: the key must have %d bytes, not %d", KeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("store: key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("store: key: %w", err)
	}
	return aead, nil
}

// sealWith returns head, nonce and ciphertext.
func sealWith(aead cipher.AEAD, head, secret []byte, place string) []byte {
	out := make([]byte, len(head)+nonceSize, len(head)+nonceSize+len(secret)+aead.Overhead())
	copy(out, head)
	_, _ = rand.Read(out[len(head):]) // never fails: crypto/rand ends the process instead
	return aead.Seal(out, out[len(head):], secret, append(bytes.Clone(head), place...))
}

func openWith(aead cipher.AEAD, head int, sealed []byte, place string) ([]byte, error) {
	if len(sealed) < head+nonceSize {
		return nil, fmt.Errorf("store: the encrypted value of %s is truncated", place)
	}
	secret, err := aead.Open(nil, sealed[head:head+nonceSize], sealed[head+nonceSize:], append(bytes.Clone(sealed[:head]), place...))
	if err != nil {
		return nil, fmt.Errorf("store: can't decrypt the value of %s: was the database's key changed? %w", place, err)
	}
	return secret, nil
}

// Seal returns the sealed form of a secret for a place, which is to be one of sealedColumns; an empty secret stays empty.
func (k *Keyring) Seal(secret []byte, place string) []byte {
	if len(secret) == 0 {
		return []byte{}
	}
	id, aead := k.now()
	return sealWith(aead, headOf(id), secret, place)
}

// Unseal returns what was sealed for a place.
func (k *Keyring) Unseal(sealed []byte, place string) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	if id := keyOf(sealed); id != 0 {
		aead, err := k.key(id)
		if err == nil {
			var secret []byte
			if secret, err = openWith(aead, headSize, sealed, place); err == nil {
				return secret, nil
			}
		}
		// One value of the first form in four thousand million looks like this, too.
		if k.old != nil {
			if secret, e := openWith(k.old, 0, sealed, place); e == nil {
				return secret, nil
			}
		}
		if isWrongKey(err) { // anyone who waits for the value can do nothing about it
			err = &app.Error{Code: app.EConflict, Reason: app.ReasonKeyLost, Message: "The secret key that encrypted this value is lost.",
				Hint: "Clusters from before the loss can only be deleted; set secrets again."}
		}
		return nil, err
	}
	if k.old == nil {
		return nil, fmt.Errorf("store: can't decrypt the value of %s: it was encrypted with a key from before data keys existed", place)
	}
	return openWith(k.old, 0, sealed, place)
}

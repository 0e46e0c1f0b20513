package app

import (
	"crypto/hmac"
	"crypto/sha256"
)

func Sign(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

package apptest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"time"
)

// Code is what an authenticator app with a secret shows at a time.
func Code(secret string, at time.Time) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		panic(err)
	}
	step := uint64(at.Unix() / 30)
	var msg [8]byte
	for i := range msg {
		msg[i] = byte(step >> (56 - 8*i))
	}
	h := hmac.New(sha1.New, key)
	h.Write(msg[:])
	sum := h.Sum(nil)
	o := sum[19] & 15
	n := (int(sum[o])&127)<<24 | int(sum[o+1])<<16 | int(sum[o+2])<<8 | int(sum[o+3])
	return fmt.Sprintf("%06d", n%1_000_000)
}

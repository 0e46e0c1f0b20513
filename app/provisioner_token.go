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

// ErrWorkerToken does not say what is wrong: forged, over, or of a registration that was revoked.
var ErrWorkerToken = &Error{Code: EUnauthorized, Reason: "worker_token", Message: "This worker's token is not valid (any more).",
	Hint: "Its provisioner gets a new one with each heartbeat."}

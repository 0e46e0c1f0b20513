package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Slack's signature headers.
const (
	headerTime      = "X-Slack-Request-Timestamp"
	headerSignature = "X-Slack-Signature"
)

// window is the allowed clock difference.
const window = 5 * time.Minute

// sign returns a body's version 0 signature.
func sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// signed reports whether a body has a valid and recent signature.
func signed(secret []byte, h http.Header, body []byte, now time.Time) bool {
	text := h.Get(headerTime)
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return false
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > window || age < -window {
		return false
	}
	return hmac.Equal([]byte(sign(secret, text, body)), []byte(h.Get(headerSignature)))
}

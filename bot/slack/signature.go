package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// The headers by which Slack proves that it is the one who asks.
const (
	headerTime      = "X-Slack-Request-Timestamp"
	headerSignature = "X-Slack-Signature"
)

// window is how far the time of a request may be from ours.
const window = 5 * time.Minute

// sign returns the signature, in version 0, of a body as it came.
func sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// signed tells whether Slack has sent this body, and not too long ago.
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

package buildsystemtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// These sign as the systems do; they are written apart from what verifies, so that both are wrong together only where both were read wrongly.

func mac(key, text string) []byte {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(text))
	return m.Sum(nil)
}

// PlainSecret is the n-th secret as a person may choose it.
func PlainSecret(n int) string { return fmt.Sprintf("it is secret number %d, and long", n) }

// StandardSecret is the n-th secret as Standard Webhooks has them.
func StandardSecret(n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("%032d", n)))
}

// Standard is Standard Webhooks.
var Standard = Scheme{Name: "standard webhooks", Header: "Webhook-Signature", Body: true, Timed: true, ID: true, Sign: func(secret, id string, at time.Time, body []byte) map[string]string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	stamp := strconv.FormatInt(at.Unix(), 10)
	return map[string]string{"Webhook-Id": id, "Webhook-Timestamp": stamp,
		"Webhook-Signature": "v1," + base64.StdEncoding.EncodeToString(mac(string(key), id+"."+stamp+"."+string(body)))}
}}

// Hex is an HMAC over the body, in hexadecimal behind a prefix.
func Hex(header, prefix string) Scheme {
	return Scheme{Name: header, Header: header, Body: true, Sign: func(secret, _ string, _ time.Time, body []byte) map[string]string {
		return map[string]string{header: prefix + hex.EncodeToString(mac(secret, string(body)))}
	}}
}

// HexTimed is an HMAC over time and body.
func HexTimed(header string) Scheme {
	return Scheme{Name: header, Header: header, Body: true, Timed: true, Sign: func(secret, _ string, at time.Time, body []byte) map[string]string {
		stamp := strconv.FormatInt(at.Unix(), 10)
		return map[string]string{header: "timestamp=" + stamp + ",signature=" + hex.EncodeToString(mac(secret, stamp+"."+string(body)))}
	}}
}

// Token is the secret itself in a header.
func Token(header string) Scheme {
	return Scheme{Name: header, Header: header, Sign: func(secret, _ string, _ time.Time, _ []byte) map[string]string {
		return map[string]string{header: secret}
	}}
}

package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/humanize"
)

// Request is a received delivery.
type Request struct {
	Header  func(name string) string // a header's first value, "" for none
	Body    []byte
	Secrets []string // two during rotation; empty ones never match
	Now     time.Time
}

// sum is the HMAC-SHA256 over all parts.
func sum(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

// fits reports whether given matches one of the secrets.
func (r Request) fits(given string, sign func(secret string) string) bool {
	fits := 0
	for _, secret := range r.Secrets {
		if secret != "" {
			fits |= subtle.ConstantTimeCompare([]byte(sign(secret)), []byte(given))
		}
	}
	return fits == 1
}

// HexFits reports whether given is the lower-case hexadecimal HMAC-SHA256 over the parts with one of the secrets.
func (r Request) HexFits(given string, parts ...[]byte) bool {
	return r.fits(given, func(secret string) string { return hex.EncodeToString(sum([]byte(secret), parts...)) })
}

// Token reports whether given is one of the secrets, without revealing their length.
func (r Request) Token(given string) bool {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return string(sum[:])
	}
	return r.fits(hash(given), hash)
}

// Unique identifies a delivery by its signed parts, whose boundaries count: "a", "bc" differs from "ab", "c".
func Unique(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Time parses a signed time in Unix seconds, to be checked with Fresh after the signature.
func Time(field, text string) (time.Time, error) {
	seconds, err := strconv.ParseUint(text, 10, 40)
	if err != nil || text[0] == '+' {
		return time.Time{}, &app.Error{Code: app.EInvalid, Reason: "header", Field: field, Message: "The time in " + field + " isn't a Unix time in seconds."}
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// Fresh rejects a signed time that is too old or too far ahead.
func (r Request) Fresh(field string, at time.Time) error {
	age := r.Now.Sub(at)
	if age <= build.ClockSkew && age >= -build.ClockSkew {
		return nil
	}
	how := "old"
	if age < 0 {
		how, age = "in the future", -age
	}
	hint := "If it was just sent, check the clocks of both servers."
	return &app.Error{Code: app.EUnauthorized, Reason: "time", Field: field, Hint: hint,
		Message: fmt.Sprintf("The time in %s is %s %s (limit: %s).", field, humanize.Duration(age), how, humanize.Duration(build.ClockSkew))}
}

// Missing is the error of an unsigned delivery.
func Missing(field, hint string) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "unsigned", Field: field, Hint: hint, Message: "The delivery isn't signed: the header " + field + " is missing."}
}

// Wrong is the error of a signature for another body, secret or scheme.
func Wrong(field string) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "signature", Field: field, Message: "The signature in " + field + " doesn't match the body and the secret.",
		Hint: "Check that both sides use the same secret, and that no proxy changes the body."}
}

// Disagree is the error of an unsigned header that names another event than the signed body.
func Disagree(field, header, body string) error {
	is := fmt.Sprintf("%.100q", body)
	if body == "" {
		is = "unknown"
	}
	return &app.Error{Code: app.EInvalid, Reason: "event", Field: field, Message: fmt.Sprintf("The header %s says %.100q, but the event of the signed body is %s.", field, header, is)}
}

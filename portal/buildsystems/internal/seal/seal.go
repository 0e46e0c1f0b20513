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
)

// Request is a delivery as it came.
type Request struct {
	Header  func(name string) string // a header's first value, "" for none
	Body    []byte
	Secrets []string // two while one is replaced; empty ones never fit
	Now     time.Time
}

// sum is the HMAC-SHA256 over all parts, one after the other.
func sum(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

// fits tells whether given is what sign makes with one of the secrets.
func (r Request) fits(given string, sign func(secret string) string) bool {
	fits := 0
	for _, secret := range r.Secrets {
		if secret != "" {
			fits |= subtle.ConstantTimeCompare([]byte(sign(secret)), []byte(given))
		}
	}
	return fits == 1
}

// HexFits tells whether given is the HMAC-SHA256 in lower-case hexadecimal over the parts, with one of the secrets.
func (r Request) HexFits(given string, parts ...[]byte) bool {
	return r.fits(given, func(secret string) string { return hex.EncodeToString(sum([]byte(secret), parts...)) })
}

// Token tells whether given is one of the secrets itself; how long they are stays hidden.
func (r Request) Token(given string) bool {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return string(sum[:])
	}
	return r.fits(hash(given), hash)
}

// Unique names a delivery by what is signed of it: parts are told apart, so "a", "bc" is not "ab", "c".
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

// Time reads a signed time in Unix seconds. It is to be looked at with Fresh after the signature.
func Time(field, text string) (time.Time, error) {
	seconds, err := strconv.ParseUint(text, 10, 40)
	if err != nil || text[0] == '+' {
		return time.Time{}, &app.Error{Code: app.EInvalid, Reason: "header", Field: field, Message: "The time in " + field + " is not a number of seconds since 1970."}
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// Fresh refuses a signed time that is too old or too far ahead.
func (r Request) Fresh(field string, at time.Time) error {
	age := r.Now.Sub(at)
	if age <= build.BuildClockSkew && age >= -build.BuildClockSkew {
		return nil
	}
	how := "old"
	if age < 0 {
		how, age = "ahead", -age
	}
	hint := "If it was just sent, look at the clocks of both sides."
	return &app.Error{Code: app.EUnauthorized, Reason: "time", Field: field, Hint: hint,
		Message: fmt.Sprintf("The time in %s is %s %s; %s is allowed.", field, age.Truncate(time.Second), how, build.BuildClockSkew)}
}

// Missing says that a delivery is not signed at all.
func Missing(field, hint string) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "unsigned", Field: field, Hint: hint, Message: "The delivery is not signed: it has no header " + field + "."}
}

// Wrong says that a signature is of another body, secret or scheme.
func Wrong(field string) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "signature", Field: field, Message: "The signature in " + field + " does not fit the body and the secret.",
		Hint: "Is the secret the same on both sides, and is nothing in between that changes the body?"}
}

// Disagree says that an unsigned header names another event than the signed body.
func Disagree(field, header, body string) error {
	is := fmt.Sprintf("of the event %.100q", body)
	if body == "" {
		is = "of no such event"
	}
	return &app.Error{Code: app.EInvalid, Reason: "event", Field: field, Message: fmt.Sprintf("The header %s says %.100q, but what was signed is %s.", field, header, is)}
}

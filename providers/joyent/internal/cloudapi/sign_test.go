package cloudapi

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"regexp"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func opensshPEM(t *testing.T, key crypto.PrivateKey) []byte {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block)
}

// Each curve has a hash of its own, and what is signed is the header's line.
func TestSignaturesOfCurves(t *testing.T) {
	form := regexp.MustCompile(`^Signature keyId="/acme/users/ops/keys/([0-9a-f]{2}:){15}[0-9a-f]{2}",algorithm="([a-z0-9-]+)",headers="date",signature="([^"]+)"$`)
	for algorithm, of := range map[string]struct {
		curve elliptic.Curve
		sum   func([]byte) []byte
	}{
		"ecdsa-sha256": {elliptic.P256(), func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }},
		"ecdsa-sha384": {elliptic.P384(), func(b []byte) []byte { s := sha512.Sum384(b); return s[:] }},
		"ecdsa-sha512": {elliptic.P521(), func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }},
	} {
		key, err := ecdsa.GenerateKey(of.curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSigner("acme", "ops", "", opensshPEM(t, key))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := http.NewRequest(http.MethodGet, "https://api.test/", nil)
		if err := s.sign(r, time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))); err != nil {
			t.Fatal(err)
		}
		m := form.FindStringSubmatch(r.Header.Get("Authorization"))
		if m == nil || m[2] != algorithm || r.Header.Get("Date") != "Fri, 02 Jan 2026 02:04:05 GMT" {
			t.Fatalf("%s: %v", algorithm, r.Header)
		}
		signature, err := base64.StdEncoding.DecodeString(m[3])
		if err != nil || !ecdsa.VerifyASN1(&key.PublicKey, of.sum([]byte("date: Fri, 02 Jan 2026 02:04:05 GMT")), signature) {
			t.Errorf("%s: the signature does not fit", algorithm)
		}
	}
}

func TestKeysThatCannotSign(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSigner("acme", "", "", opensshPEM(t, key)); !errors.Is(err, errKind) {
		t.Error(err)
	}
	for _, text := range []string{"", "none", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := NewSigner("acme", "", "", []byte(text)); !errors.Is(err, errUnreadable) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

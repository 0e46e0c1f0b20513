package client

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"muster/app"
)

const fingerprintMark = "sha256:"

// readFingerprint returns the bytes of a fingerprint as people write it.
func readFingerprint(text string) ([]byte, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), fingerprintMark)
	b, err := hex.DecodeString(strings.ReplaceAll(digits, ":", ""))
	if !ok || err != nil || len(b) != sha256.Size {
		return nil, &app.Error{Code: app.EInvalid, Reason: "usage", Field: "ca-fingerprint", Message: fmt.Sprintf("%q is not the fingerprint of a CA", text),
			Hint: "It looks like sha256: and 64 hex digits; `muster serve --tls self` prints it."}
	}
	return b, nil
}

// Trust returns what a client checks a server by: the CA of that fingerprint, or those that the host trusts where it is "". A
// CA with a fingerprint signs for one Muster alone, so its signature says more than any name.
func Trust(fingerprint string) (*tls.Config, error) {
	if fingerprint == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	want, err := readFingerprint(fingerprint)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: true, // instead VerifyConnection does
		VerifyConnection:   func(c tls.ConnectionState) error { return verify(c.PeerCertificates, want) },
	}, nil
}

// ErrWrongCA is what a server is refused with whose certificate another CA has signed.
var ErrWrongCA = errors.New("the server's certificate is not of the CA with that fingerprint")

func verify(chain []*x509.Certificate, want []byte) error {
	for _, ca := range chain {
		sum := sha256.Sum256(ca.Raw)
		if subtle.ConstantTimeCompare(sum[:], want) != 1 {
			continue
		}
		roots := x509.NewCertPool()
		roots.AddCert(ca)
		_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		return err
	}
	return ErrWrongCA
}

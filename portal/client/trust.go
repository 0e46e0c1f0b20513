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

// readFingerprint parses a fingerprint.
func readFingerprint(text string) ([]byte, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), fingerprintMark)
	b, err := hex.DecodeString(strings.ReplaceAll(digits, ":", ""))
	if !ok || err != nil || len(b) != sha256.Size {
		return nil, &app.Error{Code: app.EInvalid, Reason: "usage", Field: "ca-fingerprint", Message: fmt.Sprintf("%q isn't a CA fingerprint", text),
			Hint: "Use sha256: followed by 64 hex digits, as printed by `muster serve --tls self`."}
	}
	return b, nil
}

// Trust returns the TLS configuration that trusts the CA with a fingerprint or, if it's "", the host's CAs. A CA with a fingerprint belongs
// to one Muster only, so its signature is enough without a name check.
func Trust(fingerprint string) (*tls.Config, error) {
	if fingerprint == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	want, err := readFingerprint(fingerprint)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection verifies instead
		VerifyConnection:   func(c tls.ConnectionState) error { return verify(c.PeerCertificates, want) },
	}, nil
}

// ErrWrongCA is the error for a certificate signed by another CA.
var ErrWrongCA = errors.New("the server's certificate isn't signed by the CA with this fingerprint")

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

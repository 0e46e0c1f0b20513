package cloudapi

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signer signs requests by HTTP Signature: the Date header, with an SSH key that is in the account.
type Signer struct {
	id        string
	key       crypto.Signer
	algorithm string
	hash      crypto.Hash
}

// Errors of NewSigner.
var (
	errUnreadable = errors.New("the private key can't be read; it must be PEM without a passphrase")
	errKind       = errors.New("the private key must be RSA or ECDSA for CloudAPI")
)

// NewSigner reads a private key in PEM. User is a subuser's login, "" for the account itself. ID is the key's name or fingerprint in the account; "" is
// the fingerprint (MD5), which CloudAPI knows every key by.
func NewSigner(account, user, id string, private []byte) (*Signer, error) {
	raw, err := ssh.ParseRawPrivateKey(private)
	if err != nil {
		return nil, errUnreadable
	}
	s := &Signer{}
	switch k := raw.(type) {
	case *rsa.PrivateKey:
		s.key, s.algorithm, s.hash = k, "rsa-sha256", crypto.SHA256
	case *ecdsa.PrivateKey:
		s.key, s.algorithm, s.hash = k, "ecdsa-sha256", crypto.SHA256
		switch k.Curve.Params().BitSize {
		case 384:
			s.algorithm, s.hash = "ecdsa-sha384", crypto.SHA384
		case 521:
			s.algorithm, s.hash = "ecdsa-sha512", crypto.SHA512
		}
	default:
		return nil, errKind
	}
	if id == "" {
		public, err := ssh.NewPublicKey(s.key.Public())
		if err != nil {
			return nil, errUnreadable
		}
		id = ssh.FingerprintLegacyMD5(public)
	}
	s.id = "/" + account + "/keys/" + id
	if user != "" {
		s.id = "/" + account + "/users/" + user + "/keys/" + id
	}
	return s, nil
}

// KeyID names the key that a request is signed with.
func (s *Signer) KeyID() string { return s.id }

// sign puts the headers on a request.
func (s *Signer) sign(r *http.Request, now time.Time) error {
	date := now.UTC().Format(http.TimeFormat)
	h := s.hash.New()
	h.Write([]byte("date: " + date))
	signature, err := s.key.Sign(rand.Reader, h.Sum(nil), s.hash)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	r.Header.Set("Date", date)
	r.Header.Set("Authorization", fmt.Sprintf(`Signature keyId="%s",algorithm="%s",headers="date",signature="%s"`, s.id, s.algorithm, base64.StdEncoding.EncodeToString(signature)))
	return nil
}

package app

import "time"

// CertificateOrder is what an SSH certificate is to say.
type CertificateOrder struct {
	PublicKey  string   // of whom it is for, in authorized_keys form
	KeyID      string   // what machines write in their logs
	Principals []string // the users that may be signed in as
	From       time.Time
	Until      time.Time
}

// SignedCertificate is an SSH user certificate.
type SignedCertificate struct {
	Line        string // in authorized_keys form, without a line break
	Serial      uint64 // random, below 2^63
	Fingerprint string // of the public key that it is for: SHA256:...
}

// Keys makes SSH keys and certificates.
type Keys interface {
	// NewKey returns a fresh ed25519 key: the private part as OpenSSH PEM, the public part in authorized_keys form.
	// It is called by several goroutines at the same time.
	NewKey(comment string) (private []byte, public string, err error)
	// SignCertificate makes an SSH user certificate with a private key (OpenSSH PEM) that machines trust. EInvalid with the
	// field public_key says what is wrong with the key that it is for.
	SignCertificate(private []byte, o CertificateOrder) (SignedCertificate, error)
}

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

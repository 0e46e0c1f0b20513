package app

// Keys makes SSH keys and certificates.
type Keys interface {
	// NewKey gives a fresh ed25519 key: the private part as OpenSSH PEM, the public part in authorized_keys form.
	// It is called by several goroutines at the same time.
	NewKey(comment string) (private []byte, public string, err error)
	// SignCertificate makes an SSH user certificate with a private key (OpenSSH PEM) that machines trust. EInvalid with the
	// field public_key says what is wrong with the key that it is for.
	SignCertificate(private []byte, o CertificateOrder) (SignedCertificate, error)
}

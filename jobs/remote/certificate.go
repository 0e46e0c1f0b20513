package remote

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// Sizes of RSA keys that get a certificate, in bits. Larger ones are of no more use, and slow for every machine.
const (
	minRSA = 2048
	maxRSA = 16384
)

// SignCertificate implements app.Keys. A certificate allows terminals, and nothing else beyond commands: no forwarding of
// ports, agents or X11, and no ~/.ssh/rc.
func (Keys) SignCertificate(private []byte, o app.CertificateOrder) (app.SignedCertificate, error) {
	key, err := certifiable(o.PublicKey)
	if err != nil {
		return app.SignedCertificate{}, err
	}
	if len(o.Principals) == 0 || !o.Until.After(o.From) {
		return app.SignedCertificate{}, app.Errorf(app.EInternal, "a certificate needs a user and a time to hold")
	}
	ca, err := ssh.ParsePrivateKey(private)
	if err != nil {
		// The error is left out: no one knows what a parser says of a private key.
		return app.SignedCertificate{}, app.Errorf(app.EInternal, "the cluster's key cannot be read")
	}
	var serial [8]byte
	_, _ = rand.Read(serial[:]) // it never fails
	cert := &ssh.Certificate{
		Key: key, Serial: binary.BigEndian.Uint64(serial[:]) >> 1, CertType: ssh.UserCert, KeyId: o.KeyID, ValidPrincipals: o.Principals,
		ValidAfter: seconds(o.From), ValidBefore: seconds(o.Until),
		Permissions: ssh.Permissions{Extensions: map[string]string{"permit-pty": ""}},
	}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		return app.SignedCertificate{}, fmt.Errorf("remote: sign a certificate: %w", err)
	}
	return app.SignedCertificate{Line: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(cert))), Serial: cert.Serial,
		Fingerprint: ssh.FingerprintSHA256(key)}, nil
}

func seconds(t time.Time) uint64 { return uint64(max(t.Unix(), 0)) }

// certifiable reads a public key that may be signed.
func certifiable(line string) (ssh.PublicKey, error) {
	refuse := func(format string, args ...any) (ssh.PublicKey, error) {
		return nil, &app.Error{Code: app.EInvalid, Field: "public_key", Message: fmt.Sprintf(format, args...),
			Hint: "Give the line of a public key file like ~/.ssh/id_ed25519.pub; ssh-keygen -t ed25519 makes one."}
	}
	if strings.Contains(line, "PRIVATE KEY") {
		return refuse("That is a private key. Keep it to yourself; what is needed is the public one.")
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil:
		return refuse("That is no public key in OpenSSH's form.")
	case len(options) > 0:
		return refuse("A public key has no options in front of it here.")
	case len(strings.TrimSpace(string(rest))) > 0:
		return refuse("One public key is wanted, not several lines.")
	}
	if _, is := key.(*ssh.Certificate); is {
		return refuse("That is a certificate, not a public key.")
	}
	holder, is := key.(ssh.CryptoPublicKey)
	if !is {
		return refuse("Keys of type %s get no certificate; ed25519, ecdsa and rsa do.", key.Type())
	}
	switch k := holder.CryptoPublicKey().(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return refuse("An RSA key has from %d to %d bits, not %d.", minRSA, maxRSA, bits)
		}
	case ed25519.PublicKey, *ecdsa.PublicKey:
		if strings.HasPrefix(key.Type(), "sk-") {
			return refuse("Keys of type %s get no certificate; ed25519, ecdsa and rsa do.", key.Type())
		}
	default:
		return refuse("Keys of type %s get no certificate; ed25519, ecdsa and rsa do.", key.Type())
	}
	return key, nil
}

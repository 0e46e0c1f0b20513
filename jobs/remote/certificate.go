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

// SignCertificate implements app.Keys. A certificate allows terminals, connections to ports that the machine reaches, and nothing else
// beyond commands: no agents or X11, and no ~/.ssh/rc.
func (Keys) SignCertificate(private []byte, o app.CertificateOrder) (app.SignedCertificate, error) {
	key, err := certifiable(o.PublicKey)
	if err != nil {
		return app.SignedCertificate{}, err
	}
	if len(o.Principals) == 0 || !o.Until.After(o.From) {
		return app.SignedCertificate{}, app.Errorf(app.EInternal, "a certificate needs a user and a validity")
	}
	ca, err := ssh.ParsePrivateKey(private)
	if err != nil {
		// The error is left out: no one knows what a parser says of a private key.
		return app.SignedCertificate{}, app.Errorf(app.EInternal, "can't read the cluster's key")
	}
	var serial [8]byte
	_, _ = rand.Read(serial[:]) // it never fails
	cert := &ssh.Certificate{
		Key: key, Serial: binary.BigEndian.Uint64(serial[:]) >> 1, CertType: ssh.UserCert, KeyId: o.KeyID, ValidPrincipals: o.Principals,
		ValidAfter: seconds(o.From), ValidBefore: seconds(o.Until),
		Permissions: ssh.Permissions{Extensions: map[string]string{"permit-pty": "", "permit-port-forwarding": ""}},
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
			Hint: "Paste the contents of a public key file such as ~/.ssh/id_ed25519.pub. To create one, run ssh-keygen -t ed25519."}
	}
	if strings.Contains(line, "PRIVATE KEY") {
		return refuse("That's a private key. Keep it secret and use the public key instead.")
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil:
		return refuse("That isn't an OpenSSH public key.")
	case len(options) > 0:
		return refuse("Remove the options before the public key.")
	case len(strings.TrimSpace(string(rest))) > 0:
		return refuse("Enter one public key, on a single line.")
	}
	if _, is := key.(*ssh.Certificate); is {
		return refuse("That's a certificate, not a public key.")
	}
	holder, is := key.(ssh.CryptoPublicKey)
	if !is {
		return refuse("Keys of type %s aren't supported. Use ed25519, ecdsa or rsa.", key.Type())
	}
	switch k := holder.CryptoPublicKey().(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return refuse("An RSA key must have %d to %d bits; this one has %d.", minRSA, maxRSA, bits)
		}
	case ed25519.PublicKey, *ecdsa.PublicKey:
		if strings.HasPrefix(key.Type(), "sk-") {
			return refuse("Keys of type %s aren't supported. Use ed25519, ecdsa or rsa.", key.Type())
		}
	default:
		return refuse("Keys of type %s aren't supported. Use ed25519, ecdsa or rsa.", key.Type())
	}
	return key, nil
}

//go:build unix

package sandbox

import (
	"bytes"
	"errors"

	"golang.org/x/crypto/ssh"
)

// letIn lets in holders of the key, and of a certificate that the key has signed for the user and that holds now, as
// OpenSSH does with a line "cert-authority,principals=..." beside that of the key.
func letIn(key ssh.PublicKey, user string) func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
	is := func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), key.Marshal()) }
	checker := &ssh.CertChecker{
		IsUserAuthority: is,
		UserKeyFallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if is(k) {
				return &ssh.Permissions{}, nil
			}
			return nil, errors.New("this key isn't authorized")
		},
	}
	return func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if cert, is := k.(*ssh.Certificate); is && (c.User() != user || len(cert.ValidPrincipals) == 0) {
			return nil, errors.New("this certificate isn't for this user")
		}
		return checker.Authenticate(c, k)
	}
}

package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// Keys makes ed25519 keys.
type Keys struct{}

var _ app.Keys = Keys{}

func (Keys) NewKey(comment string) (private []byte, public string, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("remote: new key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(priv, comment)
	if err != nil {
		return nil, "", fmt.Errorf("remote: new key: %w", err)
	}
	p, err := ssh.NewPublicKey(pub)
	if err != nil {
		return nil, "", fmt.Errorf("remote: new key: %w", err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(p)))
	if comment != "" {
		line += " " + comment
	}
	return pem.EncodeToMemory(block), line, nil
}

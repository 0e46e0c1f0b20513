//go:build unix

package sandbox

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"strings"

	"golang.org/x/crypto/ssh"
	"muster/app/family"
)

// keys are what a machine proves itself with and whom it lets in.
type keys struct {
	hostPEM    []byte
	hostPublic string // authorized_keys form
	authorized string // one line
}

// keysOf reads a spec's keys. A spec without a host key gets a fresh one.
func keysOf(spec family.MachineSpec) (keys, error) {
	k := keys{hostPEM: spec.HostKey, authorized: strings.TrimSpace(spec.AuthorizedKey)}
	if len(k.hostPEM) == 0 {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return k, err
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			return k, err
		}
		k.hostPEM = pem.EncodeToMemory(block)
	}
	signer, err := ssh.ParsePrivateKey(k.hostPEM)
	if err != nil {
		return k, invalid("host_key", "can't parse the machine's host key: %w", err)
	}
	k.hostPublic = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	if _, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(k.authorized)); err != nil || len(rest) > 0 {
		return k, invalid("authorized_key", "the authorized key must be one line in authorized_keys format")
	}
	return k, nil
}

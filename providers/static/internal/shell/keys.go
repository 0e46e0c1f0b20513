package shell

import (
	"errors"
	"strings"

	"golang.org/x/crypto/ssh"
)

// PublicKey returns the authorized_keys form of a line with one public key, without options and comment. No part of the line is in the error.
func PublicKey(line string) (string, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(line)))
	if err != nil || len(rest) > 0 || len(options) > 0 {
		return "", errors.New("not a single public key")
	}
	return written(key), nil
}

func written(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// Key opens machines.
type Key struct{ signer ssh.Signer }

// PrivateKey reads a key in PEM form. No part of it is in the error.
func PrivateKey(text string) (Key, error) {
	signer, err := ssh.ParsePrivateKey([]byte(strings.TrimSpace(text) + "\n"))
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return Key{}, errors.New("it has a passphrase")
	}
	if err != nil {
		return Key{}, errors.New("it isn't a private key in PEM format")
	}
	return Key{signer}, nil
}

// Public is its public half in authorized_keys form.
func (k Key) Public() string { return written(k.signer.PublicKey()) }

// algorithms asks for the known key's own kind, since a machine with several keys shows only one of them.
func algorithms(known ssh.PublicKey) []string {
	rsa := []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	switch {
	case known == nil:
		return append([]string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521}, rsa...)
	case known.Type() == ssh.KeyAlgoRSA:
		return rsa
	}
	return []string{known.Type()}
}

package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// Target says which machine to talk to, as whom, and how both sides prove who they are.
type Target struct {
	Address    string // IP address or name
	Port       int    // 0 means 22
	User       string // "" means root
	HostKey    string // authorized_keys form of the only key to accept; "" accepts and pins what the machine shows
	PrivateKey []byte // OpenSSH PEM, without a passphrase
	// Certificate is of the private key, in authorized_keys form; "" shows the key alone.
	Certificate string
	// Guard connects to machines whose address a tenant has a say in, where that is allowed; nil: any address is.
	Guard func(ctx context.Context, network, address string) (net.Conn, error)
}

// String returns "user@address:port", which is safe to print.
func (t Target) String() string {
	return t.user() + "@" + t.endpoint()
}

func (t Target) user() string {
	if t.User == "" {
		return "root"
	}
	return t.User
}

func (t Target) endpoint() string {
	port := t.Port
	if port == 0 {
		port = 22
	}
	return net.JoinHostPort(t.Address, strconv.Itoa(port))
}

// identity tells targets apart. It holds a digest of the private key, never the key. A connection that no guard has let through is not
// taken for one that has.
func (t Target) identity() string {
	sum := sha256.Sum256(t.PrivateKey)
	guarded := ""
	if t.Guard != nil {
		guarded = "guarded"
	}
	return strings.Join([]string{t.endpoint(), t.user(), hex.EncodeToString(sum[:]), bareKey(t.HostKey), guarded}, "\n")
}

// bareKey drops the comment and the spaces around an authorized_keys line, so that equal keys compare equal.
func bareKey(line string) string {
	words := strings.Fields(line)
	return strings.Join(words[:min(2, len(words))], " ")
}

// signer reads the private key. The error never holds any of it.
func (t Target) signer() (ssh.Signer, error) {
	s, err := ssh.ParsePrivateKey(t.PrivateKey)
	if err != nil {
		return nil, &app.Error{
			Code: app.ECredentials, Reason: "bad_key",
			Message: "The private key for " + t.String() + " can't be read.",
			Hint:    "It must be in OpenSSH PEM format and have no passphrase.",
		}
	}
	return t.certified(s)
}

// pinned reads HostKey; nil when there is none.
func (t Target) pinned() (ssh.PublicKey, error) {
	if strings.TrimSpace(t.HostKey) == "" {
		return nil, nil
	}
	k, _, _, _, err := ssh.ParseAuthorizedKey([]byte(t.HostKey))
	if err != nil {
		return nil, &app.Error{
			Code: app.EInvalid, Reason: "bad_host_key", Field: "host_key",
			Message: "The host key on record for " + t.endpoint() + " can't be read.",
			Hint:    "It must be in the format of an authorized_keys line.",
		}
	}
	return k, nil
}

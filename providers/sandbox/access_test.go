//go:build linux

package sandbox

import (
	"crypto/rand"
	"net"
	"strconv"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

const hangs = 5 * time.Minute // reached only where something hangs

// A machine of this process lets in holders of a certificate of its cluster's key, as one with OpenSSH does.
func TestProcessCertificate(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	m, k := create(t, p, "certificate")
	_, other := spec(t, "other")
	now := time.Now()
	sound := ssh.Certificate{Key: other.Client.PublicKey(), Serial: 1, CertType: ssh.UserCert, KeyId: "ada", ValidPrincipals: []string{m.SSHUser},
		ValidAfter: uint64(now.Add(-time.Minute).Unix()), ValidBefore: uint64(now.Add(time.Hour).Unix())}
	for name, tc := range map[string]struct {
		change func(c *ssh.Certificate)
		ca     ssh.Signer
		user   string
		in     bool
	}{
		"sound":          {func(*ssh.Certificate) {}, k.Client, m.SSHUser, true},
		"expired":        {func(c *ssh.Certificate) { c.ValidBefore = uint64(now.Add(-time.Second).Unix()) }, k.Client, m.SSHUser, false},
		"not yet":        {func(c *ssh.Certificate) { c.ValidAfter = uint64(now.Add(time.Minute).Unix()) }, k.Client, m.SSHUser, false},
		"another CA":     {func(*ssh.Certificate) {}, other.Client, m.SSHUser, false},
		"another user":   {func(c *ssh.Certificate) { c.ValidPrincipals = []string{"x" + m.SSHUser} }, k.Client, m.SSHUser, false},
		"as another":     {func(c *ssh.Certificate) { c.ValidPrincipals = []string{"x" + m.SSHUser} }, k.Client, "x" + m.SSHUser, false},
		"no one":         {func(c *ssh.Certificate) { c.ValidPrincipals = nil }, k.Client, m.SSHUser, false},
		"host":           {func(c *ssh.Certificate) { c.CertType = ssh.HostCert }, k.Client, m.SSHUser, false},
		"unknown demand": {func(c *ssh.Certificate) { c.CriticalOptions = map[string]string{"force-command": "x"} }, k.Client, m.SSHUser, false},
	} {
		t.Run(name, func(t *testing.T) {
			cert := sound
			tc.change(&cert)
			if err := cert.SignCert(rand.Reader, tc.ca); err != nil {
				t.Fatal(err)
			}
			s, err := ssh.NewCertSigner(&cert, other.Client)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ssh.Dial("tcp", net.JoinHostPort(m.Addresses["access_v4"], strconv.Itoa(m.SSHPort)), &ssh.ClientConfig{User: tc.user,
				Auth: []ssh.AuthMethod{ssh.PublicKeys(s)}, HostKeyCallback: ssh.FixedHostKey(k.Host.PublicKey()), Timeout: hangs})
			if (err == nil) != tc.in {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				defer c.Close()
				if got := sh(t, c, "echo hello"); got != "hello" {
					t.Errorf("%q", got)
				}
			}
		})
	}
	remove(t, p, m)
}

//go:build linux

package jobs

import (
	"net"
	"strconv"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/execution"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
	"muster/providers/sandbox"
)

// What a bootstrap leaves on a machine lets a certificate of the cluster in, be its server OpenSSH or that of the sandbox.
func TestCertificateLoginToASandbox(t *testing.T) {
	for _, mode := range []string{sandbox.ModeProcess, sandbox.ModeNamespaces} {
		t.Run(mode, func(t *testing.T) {
			n, private := sandboxNode(t, mode)
			sh, err := remote.Wait(t.Context(), target(n, private))
			if err != nil {
				t.Fatal(err)
			}
			defer sh.Close()
			w := &actions{}
			as := &execution.Assignment{Node: n, Epoch: 1, Cluster: app.Cluster{ID: "c1"}, SSHKey: private}
			out := func(_ app.Stream, line string) { t.Error(line) }
			if err := ensureAccess(t.Context(), as, remote.Under(sh, w.nodeClaim(as)), out); err != nil {
				t.Fatal(err)
			}
			host, _, _, _, err := ssh.ParseAuthorizedKey([]byte(n.HostKey))
			if err != nil {
				t.Fatal(err)
			}
			enter := func(until time.Time) error {
				t.Helper()
				key, _ := remotetest.NewKey(t)
				signed, err := remote.Keys{}.SignCertificate(private, app.CertificateOrder{PublicKey: remotetest.AuthorizedKey(key), KeyID: "muster:t/ada",
					Principals: []string{n.SSHUser}, From: until.Add(-time.Hour), Until: until})
				if err != nil {
					t.Fatal(err)
				}
				public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(signed.Line))
				if err != nil {
					t.Fatal(err)
				}
				s, err := ssh.NewCertSigner(public.(*ssh.Certificate), key)
				if err != nil {
					t.Fatal(err)
				}
				c, err := ssh.Dial("tcp", net.JoinHostPort(n.Address(app.AddressAccess), strconv.Itoa(n.SSHPort)), &ssh.ClientConfig{User: n.SSHUser,
					Auth: []ssh.AuthMethod{ssh.PublicKeys(s)}, HostKeyCallback: ssh.FixedHostKey(host), Timeout: 5 * time.Minute})
				if err == nil {
					_ = c.Close()
				}
				return err
			}
			if err := enter(time.Now().Add(30 * time.Minute)); err != nil {
				t.Errorf("a certificate that holds: %v", err)
			}
			if err := enter(time.Now().Add(-time.Minute)); err == nil {
				t.Error("one that has ended is let in")
			}
		})
	}
}

//go:build linux

package jobs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/providers/sandbox"

	"golang.org/x/crypto/ssh"
)

// A machine with an OpenSSH of its own is taken over from a pool, also by those who begin again where someone was killed.
func TestKeyRotationOnASandbox(t *testing.T) {
	n, old := sandboxNode(t, sandbox.ModeNamespaces)
	own, _, err := remote.Keys{}.NewKey("own")
	if err != nil {
		t.Fatal(err)
	}
	shells := sshShells{remote.NewPool(remote.PoolOptions{})}
	defer shells.Close()
	w := &actions{WorkerConfig: WorkerConfig{Shells: shells}}
	n.Hostname = "web-7-n1.internal"
	as := &execution.Assignment{Node: n, Epoch: 1, Cluster: app.Cluster{ID: "web-7"}, SSHKey: own, FromPool: &execution.FromPool{Pool: "base", Key: old}}
	out := func(s app.Stream, line string) { t.Log(s, line) }
	// Someone was killed when both keys were there.
	if _, err := shells.Await(t.Context(), target(n, old)); err != nil {
		t.Fatal(err)
	}
	if err := w.over(t.Context(), as, target(n, old), func(sh family.Shell) error { return remote.AuthorizeKey(t.Context(), sh, own) }); err != nil {
		t.Fatal(err)
	}
	// A container has the key that it was made with in a file of its provider's.
	onMachine := func(line string) (said []string) {
		t.Helper()
		if err := w.over(t.Context(), as, target(n, own), func(sh family.Shell) error {
			_, err := sh.Run(t.Context(), family.Command{Line: line}, func(_ app.Stream, text string) { said = append(said, text) })
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return said
	}
	onMachine("mkdir -p /etc/muster-ssh && cp ~/.ssh/authorized_keys /etc/muster-ssh/authorized_keys && wc -l </etc/muster-ssh/authorized_keys")
	for range 2 { // the second one finds all done
		as.Epoch++
		began := time.Now()
		if err := w.rotateKey(t.Context(), nil, as, out, &execution.Report{}); err != nil {
			t.Fatal(err)
		}
		t.Logf("taken over in %s", time.Since(began).Round(time.Millisecond))
	}
	if refused, err := shells.Refused(t.Context(), target(n, old)); err != nil || !refused {
		t.Errorf("the pool's key is let in (%v)", err)
	}
	kept := onMachine("cat /etc/muster-ssh/authorized_keys")
	if slices.ContainsFunc(kept, func(line string) bool { return sameLine(t, line, old) }) || !slices.ContainsFunc(kept, func(line string) bool { return sameLine(t, line, own) }) {
		t.Errorf("the provider's file holds %q", kept)
	}
	conn, err := remote.Dial(t.Context(), target(n, own))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var said []string
	if _, err := conn.Run(t.Context(), family.Command{Line: "uname -n; cat /etc/hostname"}, func(_ app.Stream, line string) { said = append(said, line) }); err != nil {
		t.Fatal(err)
	}
	if len(said) != 2 || said[0] != n.Hostname || said[1] != n.Hostname {
		t.Errorf("it calls itself %q", said)
	}
}

// sameLine reports whether a line lets the holder of a private key in.
func sameLine(t *testing.T, line string, private []byte) bool {
	t.Helper()
	key, err := ssh.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(line, strings.Fields(string(ssh.MarshalAuthorizedKey(key.PublicKey())))[1])
}

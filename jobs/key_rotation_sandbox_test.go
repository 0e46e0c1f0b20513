//go:build linux

package jobs

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/providers/sandbox"
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

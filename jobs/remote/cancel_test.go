package remote_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// lateWriter is a connection of which the write that carries a request returns only when it is released, though all of it was sent.
type lateWriter struct {
	net.Conn
	hold    *atomic.Bool
	held    chan struct{}
	release <-chan struct{}
}

func (w *lateWriter) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if len(b) > 1000 && w.hold.CompareAndSwap(true, false) {
		close(w.held)
		<-w.release
	}
	return n, err
}

// The command has begun on the node, and its caller is cancelled before our own writer has noticed that the request was sent, as happens on
// a busy host. The command ends all the same, and its caller learns of it only then.
func TestCancelledWhileTheRequestIsSent(t *testing.T) {
	t.Parallel()
	n := remotetest.OpenSSHWith(t, strings.Replace(tools(t, map[string]string{"bash": "exit 126"}), "$PATH", os.Getenv("PATH"), 1))
	var hold atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	target := n.Target()
	target.Guard = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &lateWriter{c, &hold, held, release}, err
	}
	c := remote.Under(dial(t, target), claim(1, 1))
	mustRun(t, c, family.Command{Line: "true"}) // finds that there is no resident

	begun := tempFile(n, "begun")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var h heard
	hold.Store(true)
	done := begin(ctx, c, family.Command{Once: true, Line: "echo $$ >>" + begun + "; while [ -d " + n.Temp + " ]; do sleep 0.1; done"}, &h)
	<-held
	eventually(t, "it begins", func() bool { return len(pidsIn(begun)) == 1 })
	cancel()
	select {
	case err := <-done:
		t.Errorf("Run returned before it had ended: %v", err)
		close(release)
	case <-time.After(200 * time.Millisecond):
		close(release)
		wantCode(t, end(t, done), app.ECancelled)
	}
	eventually(t, "it ends", func() bool { return !running(pidsIn(begun)[0]) })
}

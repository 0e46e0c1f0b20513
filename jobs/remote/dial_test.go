package remote_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestDialPinsAtFirstContact(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		open := n.Target()
		open.HostKey = ""
		c := dial(t, open)
		if c.HostKey() != n.Target().HostKey {
			t.Errorf("saw %q, want %q", c.HostKey(), n.Target().HostKey)
		}
		pinned := n.Target()
		pinned.HostKey = c.HostKey() + " a comment"
		mustRun(t, dial(t, pinned), family.Command{Line: "true"})
	})
}

func TestDialWrongHostKey(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		other, _ := remotetest.NewKey(t)
		target := n.Target()
		target.HostKey = remotetest.AuthorizedKey(other)
		_, err := remote.Dial(t.Context(), target)
		wantCode(t, err, app.EHostKey, "couldn't prove its identity", ssh.FingerprintSHA256(other.PublicKey()), "delete or repair")
	})
}

// A machine that has no key of the pinned kind is another machine too.
func TestDialOtherKindOfHostKey(t *testing.T) {
	t.Parallel()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s := remotetest.Start(t, remotetest.Options{HostKey: key})
	mustRun(t, dial(t, s.Target()), family.Command{Line: "true"}) // a pinned RSA key works
	other, _ := remotetest.NewKey(t)
	target := s.Target()
	target.HostKey = remotetest.AuthorizedKey(other)
	_, err = remote.Dial(t.Context(), target)
	wantCode(t, err, app.EHostKey, "a different type of key")
}

func TestDialRefused(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		target := n.Target()
		_, target.PrivateKey = remotetest.NewKey(t)
		_, err := remote.Dial(t.Context(), target)
		wantCode(t, err, app.ECredentials, "refused the key of user root", "authorized_keys")
		if app.AsError(err).Reason != "auth_refused" {
			t.Errorf("%+v", err)
		}
	})
}

func TestDialBadInput(t *testing.T) {
	t.Parallel()
	_, key := remotetest.NewKey(t)
	_, err := remote.Dial(t.Context(), remote.Target{Address: "127.0.0.1", PrivateKey: []byte("SECRET")})
	wantCode(t, err, app.ECredentials, "can't be read")
	if strings.Contains(err.Error(), "SECRET") {
		t.Error("the key is in the message")
	}
	_, err = remote.Dial(t.Context(), remote.Target{Address: "127.0.0.1", PrivateKey: key, HostKey: "nonsense"})
	wantCode(t, err, app.EInvalid)
}

func TestDialNoServer(t *testing.T) {
	t.Parallel()
	_, key := remotetest.NewKey(t)
	dead, _ := remotetest.ClosedPort(t)
	_, err := remote.Dial(t.Context(), remote.Target{Address: "127.0.0.1", Port: dead, PrivateKey: key})
	wantCode(t, err, app.ETransient, "refused")
}

// A port that accepts and stays silent, as a machine that is still booting does.
func TestDialSilent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, key := remotetest.NewKey(t)
	target := remote.Target{Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, PrivateKey: key}

	_, err = remote.Limits{Dial: 50 * time.Millisecond}.DialTo(t.Context(), target)
	wantCode(t, err, app.ETransient, "isn't responding")
	_, err = remote.Dial(soon(t, 50*time.Millisecond), target)
	wantCode(t, err, app.ETimeout)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = remote.Dial(ctx, target)
	wantCode(t, err, app.ECancelled)
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	<-c.Done()
}

func TestWaitUntilUp(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	target := s.Target()
	real := target.Port
	port, open := remotetest.ClosedPort(t)
	target.Port = port
	go func() { // after a while the machine comes up there
		time.Sleep(300 * time.Millisecond)
		forward(t, open, real)
	}()
	c, err := remote.Wait(soon(t, hangs), target)
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, c, family.Command{Line: "true"})
	_ = c.Close()
}

// forward accepts one connection on a port that it opens, and hands it to another.
func forward(t *testing.T, open func() (net.Listener, error), to int) {
	l, err := open()
	if err != nil {
		t.Error(err)
		return
	}
	defer l.Close()
	a, err := l.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	b, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: to})
	if err != nil {
		t.Error(err)
		return
	}
	pipe := func(dst, src net.Conn) {
		defer dst.Close()
		buf := make([]byte, 4096)
		for {
			n, err := src.Read(buf)
			if _, werr := dst.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	go pipe(a, b)
	go pipe(b, a)
}

func TestWaitGivesUp(t *testing.T) {
	t.Parallel()
	_, key := remotetest.NewKey(t)
	dead, _ := remotetest.ClosedPort(t)
	target := remote.Target{Address: "127.0.0.1", Port: dead, PrivateKey: key}
	_, err := remote.Wait(soon(t, 5*time.Second), target)
	wantCode(t, err, app.ETimeout, "SSH on root@127.0.0.1", "connection refused")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = remote.Wait(ctx, target)
	wantCode(t, err, app.ECancelled)
}

func TestWaitDoesNotRetryAWrongHostKey(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	other, _ := remotetest.NewKey(t)
	target := s.Target()
	target.HostKey = remotetest.AuthorizedKey(other)
	_, err := remote.Wait(soon(t, hangs), target)
	wantCode(t, err, app.EHostKey)
}

func TestWaitForALateKey(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	s.Refuse(true)
	time.AfterFunc(300*time.Millisecond, func() { s.Refuse(false) })
	c, err := remote.Wait(soon(t, hangs), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()

	s.Refuse(true)
	_, err = remote.Limits{AuthGrace: 200 * time.Millisecond}.WaitFor(soon(t, hangs), s.Target())
	wantCode(t, err, app.ECredentials)
}

package remote_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// reads reads a terminal until it has shown a text, and returns all that it did.
func reads(t *testing.T, term family.Terminal, want string) string {
	t.Helper()
	got, b := "", make([]byte, 4096)
	for !strings.Contains(got, want) {
		n, err := term.Read(b)
		if got += string(b[:n]); err != nil {
			t.Fatalf("%v after %q, want %q", err, got, want)
		}
	}
	return got
}

func open(t *testing.T, c *remote.Conn, line string) family.Terminal {
	t.Helper()
	term, err := c.Terminal(t.Context(), family.TerminalOptions{Size: family.TerminalSize{Columns: 101, Rows: 31}, Line: line})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// A terminal of OpenSSH is one: programs know its size, and notice another.
func TestTerminalOfOpenSSH(t *testing.T) {
	t.Parallel()
	n := remotetest.OpenSSH(t)
	c := dial(t, n.Target())
	term := open(t, c, `trap 'echo now $(stty size)' WINCH; tty >/dev/null && echo $TERM $(stty size); while :; do sleep 0.05; done`)
	reads(t, term, "xterm-256color 31 101")
	if err := term.Resize(family.TerminalSize{Columns: 64, Rows: 17}); err != nil {
		t.Fatal(err)
	}
	reads(t, term, "now 17 64")
	if _, err := term.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, term); err != nil {
		t.Errorf("the end is %v", err)
	}
	_ = term.Close()
	if err := term.Close(); err != nil {
		t.Errorf("closing it again: %v", err)
	}
	// The login shell.
	term = open(t, c, "")
	if _, err := term.Write([]byte("echo a$((20+3))b; exit 4\n")); err != nil {
		t.Fatal(err)
	}
	reads(t, term, "a23b")
	if _, err := io.Copy(io.Discard, term); err != nil {
		t.Error(err)
	}
}

// What a terminal runs is typed into, and ends with its connection.
func TestTerminalsEndWithTheirConnection(t *testing.T) {
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		if strings.Contains(t.Name(), "in-process") { // it has no terminals, as some machines don't
			_, err := c.Terminal(t.Context(), family.TerminalOptions{Size: family.TerminalSize{Columns: 80, Rows: 24}})
			if err == nil || app.CodeOf(err) == app.EInternal {
				t.Errorf("a machine without terminals: %v", err)
			}
			return
		}
		term, other := open(t, c, `echo ready; read -r x; echo "got $x"; sleep 1000`), open(t, c, `echo ready; sleep 1000`)
		reads(t, term, "ready")
		reads(t, other, "ready")
		if _, err := term.Write([]byte("word\n")); err != nil {
			t.Fatal(err)
		}
		reads(t, term, "got word")
		_ = other.Close()
		if _, err := other.Read(make([]byte, 10)); err == nil {
			t.Error("one that was closed is read")
		}
		_ = c.Close()
		<-c.Done()
		ended := make(chan struct{})
		go func() { _, _ = io.Copy(io.Discard, term); close(ended) }()
		<-ended
		if _, err := c.Terminal(t.Context(), family.TerminalOptions{Size: family.TerminalSize{Columns: 80, Rows: 24}}); app.CodeOf(err) != app.ETransient {
			t.Errorf("on a connection that has ended: %v", err)
		}
	})
}

func TestOpeningATerminalEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := dial(t, remotetest.OpenSSH(t).Target())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if term, err := c.Terminal(ctx, family.TerminalOptions{Size: family.TerminalSize{Columns: 80, Rows: 24}}); err == nil {
		_ = term.Close() // it was faster
	}
	again, err := c.Terminal(t.Context(), family.TerminalOptions{Size: family.TerminalSize{Columns: 80, Rows: 24}, Line: "echo fine; sleep 60"})
	if err != nil {
		t.Fatal(err)
	}
	reads(t, again, "fine")
}

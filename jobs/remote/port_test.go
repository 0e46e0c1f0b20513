package remote_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote/remotetest"
)

// Ports and files, on a real OpenSSH: it says what is refused and why.
func TestPortsOverSSH(t *testing.T) {
	t.Parallel()
	n := remotetest.OpenSSH(t)
	c := dial(t, n.Target())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(in, in); _ = in.Close() }()
		}
	}()
	conn, err := c.DialPort(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("over a port. ", 100_000)
	go func() { _, _ = io.WriteString(conn, text) }()
	b := make([]byte, len(text))
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != text {
		t.Errorf("%d bytes came back otherwise, %v", len(b), err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.DialPort(t.Context(), "127.0.0.1:1"); app.AsError(err).Reason != family.PortClosed {
		t.Errorf("a closed port: %v", err)
	}
	for _, bad := range []string{"", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x"} {
		if _, err := c.DialPort(t.Context(), bad); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_ = c.Close()
	if _, err := c.DialPort(t.Context(), l.Addr().String()); err == nil {
		t.Error("a port over a closed connection")
	}
}

func TestFilesOverSFTP(t *testing.T) {
	t.Parallel()
	n := remotetest.OpenSSH(t)
	c := dial(t, n.Target())
	f, err := c.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	here, there := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	read := func(parts ...string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(parts...))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	write(here, "site/index.html", "hello")
	write(here, "site/img/logo", strings.Repeat("x", 3<<20))
	if err := os.Symlink("/etc/passwd", filepath.Join(here, "site/link")); err != nil {
		t.Fatal(err)
	}
	if err := f.Upload(t.Context(), filepath.Join(here, "site"), there, false); app.CodeOf(err) != app.EInvalid {
		t.Errorf("a directory without -r: %v", err)
	}
	if err := f.Upload(t.Context(), filepath.Join(here, "site"), there, true); err != nil {
		t.Fatal(err)
	}
	if read(there, "site/index.html") != "hello" || len(read(there, "site/img/logo")) != 3<<20 {
		t.Error("other files arrived")
	}
	if _, err := os.Lstat(filepath.Join(there, "site/link")); !os.IsNotExist(err) {
		t.Errorf("a link was copied: %v", err)
	}
	if err := f.Upload(t.Context(), filepath.Join(here, "site/index.html"), filepath.Join(there, "new.html"), false); err != nil || read(there, "new.html") != "hello" {
		t.Errorf("under another name: %v", err)
	}
	back := t.TempDir()
	if err := f.Download(t.Context(), filepath.Join(there, "site"), back, true); err != nil || read(back, "site/index.html") != "hello" {
		t.Errorf("back: %v", err)
	}
	if err := f.Download(t.Context(), filepath.Join(there, "site"), back, false); app.CodeOf(err) != app.EInvalid {
		t.Errorf("a directory without -r: %v", err)
	}
	if err := f.Download(t.Context(), filepath.Join(there, "none"), back, false); app.CodeOf(err) != app.ENotFound {
		t.Errorf("no such file: %v", err)
	}
	if err := os.Symlink(filepath.Join(here, "outside"), filepath.Join(back, "new.html")); err != nil {
		t.Fatal(err)
	}
	if err := f.Download(t.Context(), filepath.Join(there, "new.html"), back, false); app.CodeOf(err) != app.EInvalid {
		t.Errorf("through a link: %v", err)
	}
	if _, err := os.Stat(filepath.Join(here, "outside")); !os.IsNotExist(err) {
		t.Error("a file was written through a link")
	}
}

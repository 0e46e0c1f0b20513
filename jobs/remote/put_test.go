package remote_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// hostile are names that break careless quoting.
var hostile = []string{
	"plain", "with space", "it's", `double"quote`, "$HOME", "`id`", "$(id)", "-rf", "a\nb", "a;b", "a&b", "*", "~", "tab\tx",
	`back\slash`, "!bang", "#hash", "ünï", "a'b\"c$d`e\\f", "'", "''", "\\'", " ", "{a,b}",
}

func TestPut(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		for _, name := range hostile {
			file := filepath.Join(n.Temp, "new dir", name+"d", name)
			if err := c.Put(t.Context(), file, 0o640, strings.NewReader("content of "+name)); err != nil {
				t.Errorf("%q: %v", name, err)
				continue
			}
			check(t, file, "content of "+name, 0o640)
		}
		if n.Home == mustRun(t, c, family.Command{Line: "pwd"})[0] { // OpenSSH starts in the user's real home
			if err := c.Put(t.Context(), "-in home", 0o600, iotaReader("")); err != nil {
				t.Error(err)
			}
			check(t, filepath.Join(n.Home, "-in home"), "", 0o600)
		}

		// It replaces as a whole, also what is open or may not be written.
		file := filepath.Join(n.Temp, "f")
		if err := os.WriteFile(file, []byte("old, and longer"), 0o400); err != nil {
			t.Fatal(err)
		}
		for _, atOnce := range []int64{1 << 20, 3} {
			if err := c.PutWith(t.Context(), file, 0o755, iotaReader("new\x00\xff"), atOnce, 1<<20); err != nil {
				t.Fatal(err)
			}
			check(t, file, "new\x00\xff", 0o755)
		}
		noTemp(t, n.Temp)
	})
}

func check(t *testing.T, file, text string, mode fs.FileMode) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || string(b) != text {
		t.Errorf("%q holds %q, %v; want %q", file, b, err, text)
		return
	}
	if st, _ := os.Stat(file); st.Mode().Perm() != mode {
		t.Errorf("%q has mode %o, want %o", file, st.Mode().Perm(), mode)
	}
}

func noTemp(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(p, "muster-") {
			t.Errorf("left behind: %s", p)
		}
		return nil
	})
}

func TestPutBig(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		big := bytes.Repeat([]byte("0123456789\x00\xff\n"), 400<<10) // 5 MiB
		file := filepath.Join(n.Temp, "big")
		if err := c.Put(t.Context(), file, 0o600, bytes.NewReader(big)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, big) {
			t.Errorf("%d bytes arrived, %v", len(got), err)
		}
	})
}

func TestPutFails(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := filepath.Join(n.Temp, "f")
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		wantCode(t, c.PutWith(t.Context(), file, 0o600, iotaReader("0123456789"), 4, 9), app.ETooLarge)
		for _, atOnce := range []int64{1 << 20, 4} {
			if err := c.PutWith(t.Context(), file, 0o600, io.MultiReader(strings.NewReader("new content"), failing{}), atOnce, 1<<20); err == nil {
				t.Error("no error from a broken reader")
			}
		}
		check(t, file, "old", 0o600)

		wantCode(t, c.Put(t.Context(), n.Temp, 0o600, strings.NewReader("x")), app.EInvalid, "is a directory")
		wantCode(t, c.Put(t.Context(), filepath.Join(file, "below"), 0o600, strings.NewReader("x")), app.EInvalid, "Can't write")
		for _, name := range []string{"", "dir/", "nul\x00"} {
			wantCode(t, c.Put(t.Context(), name, 0o600, strings.NewReader("x")), app.EInvalid)
		}
		noTemp(t, n.Temp)
		noTemp(t, filepath.Dir(n.Temp))
	})
}

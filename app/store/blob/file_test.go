package blob_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/store/blob"
)

func listed(t *testing.T, s *blob.Store, prefix string) (names []string) {
	t.Helper()
	if err := s.List(t.Context(), prefix, func(n string, _ time.Time) error { names = append(names, n); return nil }); err != nil {
		t.Fatal(err)
	}
	return names
}

// A directory that an earlier version of Muster wrote, by a library that it no longer has, holds the same contents. Its files of attributes, files
// that a crash left and files with other names are no contents.
func TestOldDirectory(t *testing.T) {
	dir := t.TempDir()
	const name = "installation/0123456789abcdef0123/" + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.abcdefgh"
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	crashed, old := file+".18a1f6c2d3e4f500.tmp", file+".18a1f6c2d3e4f501.tmp"
	for path, text := range map[string]string{file: "content", file + ".attrs": `{"md5": ""}`, crashed: "con", old: "c",
		filepath.Join(filepath.Dir(file), "a__0x2f__b"): "x", filepath.Join(filepath.Dir(file), "with space"): "x", filepath.Join(dir, ".hidden"): "x"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, "file://"+dir+"?metadata=skip&no_tmp_dir=true&dir_file_mode=448")
	if names := listed(t, s, "installation/"); !slices.Equal(names, []string{name}) {
		t.Errorf("listed: %q", names)
	}
	if names := listed(t, s, ""); !slices.Equal(names, []string{name}) {
		t.Errorf("listed: %q", names)
	}
	if names := listed(t, s, "another/"); names != nil {
		t.Errorf("listed: %q", names)
	}
	if _, err := os.Stat(crashed); err != nil {
		t.Errorf("what may still be written is gone: %v", err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a crash left long ago is still there: %v", err)
	}
	r, err := s.Open(t.Context(), name, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "tent" {
		t.Errorf("%q, %v", got, err)
	}
	_ = r.Close()
	if err := s.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + ".attrs"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the attributes of what was deleted: %v", err)
	}
	if is, err := s.Has(t.Context(), filepath.ToSlash(filepath.Dir(name))); is || err != nil {
		t.Errorf("a directory is a content: %t, %v", is, err)
	}
}

// Names that would lead out of the directory, or that files of another kind have, are refused.
func TestBlobNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept")
	s := openAt(t, "file://"+kept+"?create_dir=true")
	for _, name := range []string{"", ".", "..", "../secret", "a/../../secret", "/etc/passwd", "a//b", "a/", "a\\b", "a\x00b", "a b", "a:b", "a__0x2f__b",
		"a.tmp", "a.attrs", ".hidden", strings.Repeat("a", 501)} {
		_, has := s.Has(t.Context(), name)
		_, open := s.Open(t.Context(), name, 0)
		put := s.Put(t.Context(), name, 1, strings.NewReader("x"))
		for what, err := range map[string]error{"has": has, "open": open, "delete": s.Delete(t.Context(), name), "put": put} {
			if app.CodeOf(err) != app.EInvalid {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if err := os.Symlink(dir, filepath.Join(kept, "link")); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Open(t.Context(), "link/secret", 0); err == nil {
		_ = r.Close()
		t.Error("a link leads out of the directory")
	}
}

// A content appears whole, in a file and directories that only the server may read, and with nothing beside it.
func TestFileIsWrittenAtomically(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	s := openAt(t, "file://"+dir+"?create_dir=true")
	if err := s.Put(t.Context(), "acme/a", 5, bytes.NewReader([]byte("hello"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, dir + "/acme": os.ModeDir | 0o700, dir + "/acme/a": 0o600} {
		if i, err := os.Stat(path); err != nil || i.Mode() != want {
			t.Errorf("%s is %v, %v; want %v", path, i, err, want)
		}
	}
	if err := s.Put(t.Context(), "acme/b", 5, bytes.NewReader([]byte("hell"))); app.CodeOf(err) != app.ETransient {
		t.Errorf("half a content: %v", err)
	}
	if files, err := os.ReadDir(dir + "/acme"); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

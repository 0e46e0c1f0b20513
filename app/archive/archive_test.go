package archive_test

import (
	"archive/tar"
	"bytes"
	"io"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/app"
	"muster/app/archive"
)

// What is let through leads nowhere out, whatever names and links an archive has: neither by a name, nor by a link, nor through one.
func TestArchiveEntriesStayInside(t *testing.T) {
	parts := []string{"a", "b", "..", ".", "", "a/b", "../x", "/etc", "c"}
	rapid.Check(t, func(t *rapid.T) {
		name := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 4).Draw(t, label), "/")
		}
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for range rapid.IntRange(1, 6).Draw(t, "entries") {
			h := &tar.Header{Name: name("name"), Mode: 0o644, Typeflag: rapid.SampledFrom([]byte{tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink}).Draw(t, "type")}
			if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink {
				h.Linkname = name("link")
			}
			_ = w.WriteHeader(h) // what no tar can have is left out
		}
		_ = w.Close()
		var out bytes.Buffer
		to := tar.NewWriter(&out)
		s := archive.Source{R: bytes.NewReader(b.Bytes()), Size: int64(b.Len()), Name: "a"}
		if err := archive.Rewrite(t.Context(), s, "top", to); err != nil {
			if app.CodeOf(err) != app.EInvalid {
				t.Fatalf("refused as %v", err)
			}
			return
		}
		_ = to.Close()
		links, files := map[string]string{}, map[string]bool{}
		for r := tar.NewReader(&out); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			clean := path.Clean(h.Name)
			if clean != "top" && !strings.HasPrefix(clean, "top/") || h.Mode&0o7000 != 0 || h.Uid != 0 {
				t.Fatalf("%+v came through", h)
			}
			for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
				if files[dir] || links[dir] != "" {
					t.Fatalf("%s lies below what is no directory", clean)
				}
			}
			if h.Typeflag == tar.TypeSymlink {
				links[clean] = h.Linkname
				if path.IsAbs(h.Linkname) {
					t.Fatalf("%s is absolute", h.Linkname)
				}
				if at := path.Join(path.Dir(clean), h.Linkname); at != "top" && !strings.HasPrefix(at, "top/") {
					t.Fatalf("%s leads to %s", clean, at)
				}
			} else if h.Typeflag == tar.TypeReg {
				files[clean] = true
			}
		}
	})
}

// A small archive that becomes large is refused before it has.
func TestBombs(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "zeros", Size: 4096, Mode: 0o644, Typeflag: tar.TypeReg})
	_, _ = w.Write(make([]byte, 4096))
	_ = w.Close()
	s := archive.Source{R: bytes.NewReader(b.Bytes()), Size: int64(b.Len()), Limits: archive.Limits{Entries: 5, Bytes: 4095}}
	if _, err := archive.List(t.Context(), s); app.CodeOf(err) != app.ETooLarge {
		t.Errorf("too many bytes: %v", err)
	}
	s.Limits = archive.Limits{Entries: 1, Bytes: 4096}
	if files, err := archive.List(t.Context(), s); err != nil || len(files) != 1 || files[0].Size != 4096 {
		t.Errorf("what just fits: %v, %v", files, err)
	}
}

package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var files embed.FS

// Prefix is the path under which Handler must be mounted.
const Prefix = "/static/"

type asset struct {
	url     string
	kind    string
	plain   []byte
	gzipped []byte // nil where it would not be smaller
}

// assets are all files, by name and by address. They are packed when the first is wanted: only servers want any.
var assets = sync.OnceValues(load)

func load() (names, urls map[string]*asset) {
	names, urls = map[string]*asset{}, map[string]*asset{}
	z, err := gzip.NewWriterLevel(nil, gzip.BestCompression) // one for all: it is large
	if err != nil {
		panic("static: " + err.Error())
	}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		panic("static: the embedded files cannot be read: " + err.Error())
	}
	for _, e := range entries {
		name := e.Name()
		body, err := files.ReadFile("assets/" + name)
		if err != nil {
			panic("static: an embedded file cannot be read: " + err.Error())
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(name)
		a := &asset{
			url:   Prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
			kind:  mime.TypeByExtension(ext),
			plain: body,
		}
		if small := shrink(z, body); len(small) < len(body) {
			a.gzipped = small
		}
		names[name], urls[a.url] = a, a
	}
	return names, urls
}

func shrink(z *gzip.Writer, b []byte) []byte {
	var buf bytes.Buffer
	z.Reset(&buf)
	// Writing to a bytes.Buffer cannot fail.
	_, _ = z.Write(b)
	_ = z.Close()
	return buf.Bytes()
}

// URL is the address of a file of the assets folder. It panics where there is no such file, which a test of any page
// that names it will find.
func URL(name string) string {
	names, _ := assets()
	a, ok := names[name]
	if !ok {
		panic("static: there is no file " + name)
	}
	return a.url
}

// Handler serves the files under their hashed addresses, and 404 for any other.
func Handler() http.Handler {
	_, urls := assets()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := urls[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		body := a.plain
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		if a.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.gzipped
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(body)
		}
	})
}

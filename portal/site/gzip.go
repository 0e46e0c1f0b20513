package site

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// gzipMinSize is the minimum size for compression: a page that fits into one packet gains nothing.
const gzipMinSize = 1400

var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	return z
}}

// WritePage writes a body, compressed if the client accepts that. Only GET responses are compressed: a form's response may contain a secret
// beside attacker-controlled text, and its length would leak it.
func WritePage(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if r.Method != http.MethodGet || len(body) < gzipMinSize || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(w)
	// A disconnected client needs no page.
	_, _ = z.Write(body)
	_ = z.Close()
}

package site

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// packPages is from how many bytes on a page is packed: what fits into one packet gains nothing.
const packPages = 1400

var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	return z
}}

// WritePage writes a body, packed where the reader takes that. Only what was asked for with GET is: an answer to a form may show a secret
// beside what someone else has typed, and its length would tell of it.
func WritePage(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if r.Method != http.MethodGet || len(body) < packPages || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(w)
	// Who has gone away needs no page.
	_, _ = z.Write(body)
	_ = z.Close()
}

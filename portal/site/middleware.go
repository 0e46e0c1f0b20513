package site

import (
	"context"
	"net/http"
	"strings"
	"time"
)

func ForPrograms(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, HooksPath)
}

type RequestKey struct{}

// Request is a request's data for the access log.
type Request struct {
	Id   string
	User string
	From string // the client's address, if known
}

func RequestOf(ctx context.Context) *Request {
	if q, ok := ctx.Value(RequestKey{}).(*Request); ok {
		return q
	}
	return &Request{}
}

// Limit limits the body of every request. A longer Content-Length is rejected without reading.
func (p *Site) Limit(n int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > n {
				w.Header().Set("Connection", "close") // the rest would have to be read
				p.AnswerError(w, r, &http.MaxBytesError{Limit: n})
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, n)
			next.ServeHTTP(w, r)
		})
	}
}

// Within limits the time of a request. Use cases obey the context and return ETimeout or the context's error; error.go handles both.
func Within(d time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

// ContentPolicy lets pages load only what the portal serves, without inline scripts and styles. Style is another source of style sheets; "" for none.
func ContentPolicy(style string) string {
	if style != "" {
		style = " " + style
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'" + style + "; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

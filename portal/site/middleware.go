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

// Request is what the access log wants to know of a request at its end.
type Request struct {
	Id   string
	User string
	From string // the visitor's address, as far as it is known
}

func RequestOf(ctx context.Context) *Request {
	if q, ok := ctx.Value(RequestKey{}).(*Request); ok {
		return q
	}
	return &Request{}
}

// Limit bounds the body of every request. One that says beforehand that it is longer is refused before it is read.
func (p *Site) Limit(n int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > n {
				w.Header().Set("Connection", "close") // what is still to come would have to be read
				p.AnswerError(w, r, &http.MaxBytesError{Limit: n})
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, n)
			next.ServeHTTP(w, r)
		})
	}
}

// Within bounds the time of one request. Use cases obey the context; what they return then is ETimeout or the
// context's own error, and error.go knows both.
func Within(d time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

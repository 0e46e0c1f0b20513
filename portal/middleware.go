package portal

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"
)

// policy lets a page load what the portal itself serves, and nothing else; there is no inline script or style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers tells browsers what they may do with what they get.
func (p *Portal) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store")
		if p.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses requests that change something and that another site made a browser send. Programs that are not
// browsers send none of the headers that it looks at, and pass.
func (p *Portal) sameOrigin(next http.Handler) http.Handler {
	c := http.NewCrossOriginProtection()
	if p.url != "" {
		// Behind a proxy the host of a request may be another than the one that people see.
		if err := c.AddTrustedOrigin(p.url); err != nil {
			p.log.Error("the portal's own address cannot be used", "url", p.url, "error", err)
		}
	}
	c.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.answerError(w, r, errForeign)
	}))
	return c.Handler(next)
}

func forPrograms(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, hooksPath)
}

type requestKey struct{}

// request is what the access log wants to know of a request at its end.
type request struct {
	id   string
	user string
	from string // the visitor's address, as far as it is known
}

func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{}
}

// access logs every request when it ends, and numbers it. Queries stay out of the log: people paste secrets anywhere.
func (p *Portal) access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := p.now()
		q := requestOf(r.Context())
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			level := slog.LevelInfo
			if strings.HasPrefix(r.URL.Path, "/static/") {
				level = slog.LevelDebug
			}
			p.log.LogAttrs(r.Context(), level, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", ww.Status()),
				slog.Int("bytes", ww.BytesWritten()), slog.Duration("took", p.now().Sub(begun)),
				slog.String("from", address(r)), slog.String("user", q.user), slog.String("request", q.id))
		}()
		next.ServeHTTP(ww, r)
	})
}

// rescue turns a panic into the page for an internal error, and numbers the request so that both can be matched.
func (p *Portal) rescue(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{id: strings.ToLower(rand.Text()[:10]), from: p.proxies.visitor(r)}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			p.log.ErrorContext(r.Context(), "panic", "cause", cause, "path", r.URL.Path, "request", q.id, "stack", string(debug.Stack()))
			if ww.Status() != 0 {
				// Part of an answer is out; breaking the connection is the only honest end.
				panic(http.ErrAbortHandler)
			}
			p.answerError(ww, r, errBug)
		}()
		next.ServeHTTP(ww, r)
	})
}

// limit bounds the body of every request. One that says beforehand that it is longer is refused before it is read.
func (p *Portal) limit(n int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > n {
				w.Header().Set("Connection", "close") // what is still to come would have to be read
				p.answerError(w, r, &http.MaxBytesError{Limit: n})
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, n)
			next.ServeHTTP(w, r)
		})
	}
}

func timeout(d time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return within(d, next.ServeHTTP) }
}

// within bounds the time of one request. Use cases obey the context; what they return then is ETimeout or the
// context's own error, and error.go knows both.
func within(d time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

package portal

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"muster/portal/site"
	"muster/portal/wire"

	"github.com/go-chi/chi/v5/middleware"
)

// headers sets security headers.
func (p *Portal) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", site.ContentPolicy(""))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store")
		if p.Secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin rejects changing requests and streams that another site made a browser send. Programs that aren't browsers don't send the checked
// headers, and pass.
func (p *Portal) sameOrigin(next http.Handler) http.Handler {
	c := http.NewCrossOriginProtection()
	if p.URL != "" {
		// Behind a proxy, a request's host may differ from the public one.
		if err := c.AddTrustedOrigin(p.URL); err != nil {
			p.Log.Error("the portal's own URL is invalid", "url", p.URL, "error", err)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check := *r
		if wire.IsStream(r) {
			check.Method = http.MethodPost // browsers let any page open a WebSocket, with cookies, and a GET isn't checked
		}
		if c.Check(&check) != nil {
			p.AnswerError(w, r, site.ErrForeign)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// access logs every request when it ends, with an ID. Queries aren't logged, since people paste secrets anywhere.
func (p *Portal) access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := p.Now()
		q := site.RequestOf(r.Context())
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			level := slog.LevelInfo
			if strings.HasPrefix(r.URL.Path, "/static/") {
				level = slog.LevelDebug
			}
			p.Log.LogAttrs(r.Context(), level, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", ww.Status()),
				slog.Int("bytes", ww.BytesWritten()), slog.Duration("took", p.Now().Sub(begun)),
				slog.String("from", site.Address(r)), slog.String("user", q.User), slog.String("request", q.Id))
		}()
		next.ServeHTTP(ww, r)
	})
}

// rescue turns a panic into the page for an internal error, with the request's ID.
func (p *Portal) rescue(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &site.Request{Id: strings.ToLower(rand.Text()[:10]), From: p.proxies.visitor(r)}
		r = r.WithContext(context.WithValue(r.Context(), site.RequestKey{}, q))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
				panic(cause)
			}
			p.Log.ErrorContext(r.Context(), "panic", "cause", cause, "path", r.URL.Path, "request", q.Id, "stack", string(debug.Stack()))
			if ww.Status() != 0 {
				// Part of the response has been sent, so the connection is broken off.
				panic(http.ErrAbortHandler)
			}
			p.AnswerError(ww, r, site.ErrBug)
		}()
		next.ServeHTTP(ww, r)
	})
}

func timeout(d time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return site.Within(d, next.ServeHTTP) }
}

package portal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"

	"muster/app"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
)

// API responses have an ETag (RFC 9110): with If-None-Match, a program that already has the response gets a short 304; with If-Match, a
// change doesn't overwrite someone else's.

// tagOf returns the entity tag of an answer.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// matches reports whether a list of tags, as in If-Match and If-None-Match, contains a tag or is *. Weak tags equal strong ones.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// tagged adds an ETag to responses of reads, and answers 304 if the client already has them.
func (p *Portal) tagged(ctx huma.Context, next func(huma.Context)) {
	if m := ctx.Method(); (m != http.MethodGet && m != http.MethodHead) || ctx.Operation().Metadata[site.MetaStream] == true {
		next(ctx)
		return
	}
	rec := &recorded{humaContext: ctx, in: ctx.BodyReader()}
	next(rec)
	if rec.status == http.StatusOK {
		tag := tagOf(rec.out.Bytes())
		ctx.SetHeader("ETag", tag)
		if have := ctx.Header("If-None-Match"); have != "" && matches(have, tag) {
			ctx.SetStatus(http.StatusNotModified)
			return
		}
	}
	if rec.status != 0 {
		ctx.SetStatus(rec.status)
	}
	_, _ = ctx.BodyWriter().Write(rec.out.Bytes())
}

// matching allows a conditional change only if the resource hasn't changed. On this server, no other conditional change runs at the same
// time.
func (p *Portal) matching(ctx huma.Context, next func(huma.Context)) {
	want := ctx.Header("If-Match")
	if m := ctx.Method(); want == "" || m == http.MethodGet || m == http.MethodHead {
		next(ctx)
		return
	}
	r, w := humachi.Unwrap(ctx)
	free := p.changing.hold(site.Caller(ctx.Context()).Tenant + " " + r.URL.Path)
	defer free()
	now, status := p.reading(ctx.Context(), r)
	switch {
	case status == http.StatusMethodNotAllowed:
		p.WriteProblem(w, r, &app.Error{Code: app.EInvalid, Reason: "malformed", Field: "If-Match", Message: "If-Match isn't supported at this address.",
			Hint: "Remove the header If-Match."})
		return
	case status == http.StatusOK && matches(want, tagOf(now)):
		next(ctx)
		return
	}
	p.WriteProblem(w, r, &app.Error{Code: app.EConflict, Reason: "precondition", Field: "If-Match", Message: "This was changed since you read it.",
		Hint: "Read it again, reapply your change, and send the new ETag."})
}

// reading returns the current response to a GET of the same address.
func (p *Portal) reading(ctx context.Context, r *http.Request) ([]byte, int) {
	get := r.Clone(context.WithValue(ctx, chi.RouteCtxKey, nil))
	get.Method, get.Body, get.ContentLength = http.MethodGet, http.NoBody, 0
	get.URL.Path, get.URL.RawPath = strings.TrimPrefix(get.URL.Path, site.APIPath), strings.TrimPrefix(get.URL.RawPath, site.APIPath)
	for _, h := range []string{"If-Match", "If-None-Match", site.OnceHeader, "Content-Type", "Content-Length"} {
		get.Header.Del(h)
	}
	w := &readAnswer{header: http.Header{}}
	p.api.ServeHTTP(w, get)
	w.WriteHeader(http.StatusOK) // unless another was set
	return w.body.Bytes(), w.status
}

// readAnswer records a response instead of sending it.
type readAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *readAnswer) Header() http.Header { return a.header }

// WriteHeader records the first status.
func (a *readAnswer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

func (a *readAnswer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// turns are locks by name, which exist only while in use.
type turns struct {
	mu  sync.Mutex
	all map[string]*turn
}

type turn struct {
	sync.Mutex
	users int
}

func newTurns() *turns { return &turns{all: map[string]*turn{}} }

// hold locks a name. Free unlocks it.
func (h *turns) hold(name string) (free func()) {
	h.mu.Lock()
	one := h.all[name]
	if one == nil {
		one = &turn{}
		h.all[name] = one
	}
	one.users++
	h.mu.Unlock()
	one.Lock()
	return func() {
		one.Unlock()
		h.mu.Lock()
		defer h.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(h.all, name)
		}
	}
}

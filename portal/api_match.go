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

// The API's answers carry an ETag (RFC 9110): a program that has the answer already asks with If-None-Match and is told so in few bytes, and
// one that changes what it has read sends If-Match, so that what someone else has changed meanwhile is not overwritten.

// tagOf returns the entity tag of an answer.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// matches tells whether a list of tags, as in If-Match and If-None-Match, holds a tag or is a star. A weak tag is the same as a strong one.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// tagged returns answers of what reads their tag, and those that the sender has already no body.
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

// matching lets a change through only where what it changes is still what the sender has read. For the time of the change no other one with
// a condition comes in between, on this server.
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

// reading returns what the sender of a change would read at the same address.
func (p *Portal) reading(ctx context.Context, r *http.Request) ([]byte, int) {
	get := r.Clone(context.WithValue(ctx, chi.RouteCtxKey, nil))
	get.Method, get.Body, get.ContentLength = http.MethodGet, http.NoBody, 0
	get.URL.Path, get.URL.RawPath = strings.TrimPrefix(get.URL.Path, site.APIPath), strings.TrimPrefix(get.URL.RawPath, site.APIPath)
	for _, h := range []string{"If-Match", "If-None-Match", site.OnceHeader, "Content-Type", "Content-Length"} {
		get.Header.Del(h)
	}
	w := &readAnswer{header: http.Header{}}
	p.api.ServeHTTP(w, get)
	w.WriteHeader(http.StatusOK) // unless it said another
	return w.body.Bytes(), w.status
}

// readAnswer keeps an answer instead of sending it.
type readAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *readAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter: the status that comes first counts.
func (a *readAnswer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

func (a *readAnswer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// turns are locks by name, there only while someone has or wants them.
type turns struct {
	mu  sync.Mutex
	all map[string]*turn
}

type turn struct {
	sync.Mutex
	users int
}

func newTurns() *turns { return &turns{all: map[string]*turn{}} }

// hold waits until no one else has the name. Free returns it.
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

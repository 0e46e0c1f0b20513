package portal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"net/http"
	"time"

	"muster/app"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

const (
	onceReplayed = "Idempotency-Replayed" // true on a replayed response
	onceTime     = 10 * time.Second       // for storing a response, whose client may be gone
)

// repeatable executes requests with an idempotency key once. Successful responses are stored; after others, the key is forgotten, so that
// the request can be retried. It runs after bearer.
func (p *Portal) repeatable(ctx huma.Context, next func(huma.Context)) {
	key, m := ctx.Header(site.OnceHeader), ctx.Method()
	kept := p.Repeats
	if key == "" || m == http.MethodGet || m == http.MethodHead || len(ctx.Operation().Security) == 0 ||
		ctx.Operation().MaxBodyBytes != site.APILimit || ctx.Operation().Metadata[site.MetaStream] == true ||
		ctx.Operation().Metadata[site.MetaUnkept] == true { // large bodies aren't held in memory
		next(ctx)
		return
	}
	r, w := humachi.Unwrap(ctx)
	a := site.Caller(ctx.Context())
	k := app.IdempotencyKey{Tenant: a.Tenant, User: a.Name(), Key: key}
	// Longer bodies are rejected later.
	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), site.APILimit+1))
	if err != nil {
		p.WriteProblem(w, r, err)
		return
	}
	before, err := kept.BeginOnce(ctx.Context(), k, fingerprint(r, body))
	if err != nil {
		p.WriteProblem(w, r, err)
		return
	}
	if before != nil {
		if err := kept.MayRepeat(ctx.Context(), a, *before); err != nil {
			p.NoteRefusal(ctx.Context(), a, "api", err)
			p.WriteProblem(w, r, err)
			return
		}
		w.Header().Set(onceReplayed, "true")
		writeKept(w, *before)
		return
	}
	a, took := a.Noting()
	rec := &recorded{humaContext: huma.WithContext(ctx, app.Once(a.In(context.WithValue(ctx.Context(), site.ActorKey{}, a)), k)), in: bytes.NewReader(body)}
	settled := false
	settle := func() {
		settled = true
		// The client may be gone, but the result must be stored.
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context()), onceTime)
		defer cancel()
		var err error
		if rec.status >= 200 && rec.status < 300 {
			err = kept.EndOnce(after, k, app.KeptAnswer{Status: rec.status, ContentType: rec.kind, Body: rec.out.Bytes(), Required: took.List()})
		} else {
			err = kept.ReleaseOnce(after, k)
		}
		if err != nil {
			p.Log.ErrorContext(ctx.Context(), "the response to a request with an idempotency key couldn't be stored", "error", err, "request", site.RequestOf(ctx.Context()).Id)
		}
	}
	defer func() {
		if !settled { // it panics
			settle()
		}
	}()
	next(rec)
	settle()
	if rec.status != 0 {
		ctx.SetStatus(rec.status)
	}
	_, _ = ctx.BodyWriter().Write(rec.out.Bytes())
}

// fingerprint identifies a request by method, path, query and body.
func fingerprint(r *http.Request, body []byte) []byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(r.Method), []byte(r.URL.Path), []byte(r.URL.RawQuery), body} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return h.Sum(nil)
}

func writeKept(w http.ResponseWriter, a app.KeptAnswer) {
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}

type humaContext = huma.Context

// recorded holds back a response until it's stored.
type recorded struct {
	humaContext
	in     io.Reader
	out    bytes.Buffer
	status int
	kind   string
}

// Unwrap returns the wrapped context, for humachi.
func (c *recorded) Unwrap() huma.Context { return c.humaContext }

func (c *recorded) BodyReader() io.Reader { return c.in }

func (c *recorded) BodyWriter() io.Writer { return &c.out }

func (c *recorded) SetStatus(status int) { c.status = status }

func (c *recorded) Status() int { return c.status }

func (c *recorded) SetHeader(name, value string) {
	if http.CanonicalHeaderKey(name) == "Content-Type" {
		c.kind = value
	}
	c.humaContext.SetHeader(name, value)
}

package site

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"muster/app"

	"github.com/danielgtaylor/huma/v2"
)

func ServeOpenAPI(doc *huma.OpenAPI) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, err := json.Marshal(doc)
		if err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(b)
	}
}

const MetaStream = "stream"

// MetaUnkept marks operations whose answers aren't kept for repeated requests.
const MetaUnkept = "unkept"

type ActorKey struct{}

type StillKey struct{}

// Still reports whether the token of a long request is still valid.
func Still(ctx context.Context) error {
	_, err := CallerNow(ctx)
	return err
}

// CallerNow is Caller as of now: the token may have been revoked, and its user may have another role, since a long request began.
func CallerNow(ctx context.Context) (app.Actor, error) {
	if f, ok := ctx.Value(StillKey{}).(func(context.Context) (app.Actor, error)); ok {
		return f(ctx)
	}
	return Caller(ctx), nil
}

// Caller returns the actor of a request's token.
func Caller(ctx context.Context) app.Actor {
	a, _ := ctx.Value(ActorKey{}).(app.Actor)
	return a
}

// Fail turns an error of a use case into a problem, and logs what isn't shown.
func (p *Site) Fail(ctx context.Context, err error) error {
	e, a := Known(err)
	p.NoteRefusal(ctx, Caller(ctx), "api", err)
	if a.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		p.Log.LogAttrs(ctx, slog.LevelError, "request failed", slog.Any("error", err), slog.Int("status", a.Status),
			slog.String("request", RequestOf(ctx).Id))
	}
	return NewProblem(e, a)
}

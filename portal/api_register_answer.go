package portal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// fail answers with an error of the handler.
func (o *restOperation) fail(ctx huma.Context, err error) {
	var h huma.HeadersError
	if errors.As(err, &h) {
		for name, values := range h.GetHeaders() {
			for _, v := range values {
				ctx.AppendHeader(name, v)
			}
		}
	}
	var s huma.StatusError
	if !errors.As(err, &s) {
		s = huma.NewErrorWithContext(ctx, http.StatusInternalServerError, "unexpected error occurred", err)
	}
	o.write(ctx, s.GetStatus(), "", s)
}

// send answers with an output of the handler.
func (o *restOperation) send(ctx huma.Context, out reflect.Value) {
	media := ""
	for _, h := range o.headers {
		v := out.Field(h.field).String()
		if h.name == "Content-Type" {
			media = v
		}
		if v != "" {
			ctx.SetHeader(h.name, v)
		}
	}
	status := o.doc.DefaultStatus
	if o.status >= 0 {
		status = int(out.Field(o.status).Int())
	}
	if o.answer < 0 {
		ctx.SetStatus(status)
		return
	}
	switch b := out.Field(o.answer).Interface().(type) {
	case func(huma.Context):
		b(ctx)
	case []byte:
		ctx.SetStatus(status)
		_, _ = ctx.BodyWriter().Write(b)
	default:
		o.write(ctx, status, media, b)
	}
}

// write encodes an answer, in the media type that the client prefers where the output names none.
func (o *restOperation) write(ctx huma.Context, status int, media string, v any) {
	if media == "" {
		var err error
		if media, err = o.api.Negotiate(ctx.Header("Accept")); err != nil {
			panic(err) // it falls back to JSON, so this is a mistake in the API's configuration
		}
		if f, ok := v.(huma.ContentTypeFilter); ok {
			media = f.ContentType(media)
		}
		ctx.SetHeader("Content-Type", media)
	}
	ctx.SetStatus(status)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return
	}
	err := o.api.Marshal(ctx.BodyWriter(), media, site.WithLists(v))
	switch {
	case err == nil:
	case errors.Is(ctx.Context().Err(), context.Canceled):
		ctx.SetStatus(499) // the client went away; this is for the log
	default:
		_, _ = ctx.BodyWriter().Write([]byte("error marshaling response"))
		panic(fmt.Errorf("error marshaling response for %s %s %d: %w", o.doc.Method, o.doc.Path, status, err))
	}
}

package observe

import "context"

// Tracer follows what one request leads to, from the face through the queue to the node. Nil where no one wants to know.
type Tracer interface {
	// Begin begins a span below the one that ctx is in, or below that of TraceOf(ctx) where ctx comes from another process or time.
	// The context that it returns is in the new span, and TraceOf of it names that one. Call end once.
	Begin(ctx context.Context, name string, facts ...Attribute) (in context.Context, end func(err error, facts ...Attribute))
}

// Attribute is something known of a span. No secrets, no configuration, no command lines: names, ids, codes and numbers.
type Attribute struct {
	Name  string
	Value any // string, int, int64 or bool
}

// KindAttribute says what a span is to others: "server" of a request that came, "consumer" of work that was queued, "client" of a call that goes out.
const KindAttribute = "span.kind"

// Begin begins a span with a tracer that may be nil.
func Begin(ctx context.Context, t Tracer, name string, facts ...Attribute) (context.Context, func(err error, facts ...Attribute)) {
	if t == nil {
		return ctx, func(error, ...Attribute) {}
	}
	return t.Begin(ctx, name, facts...)
}

type traceKey struct{}

// WithTrace returns a context that belongs to a trace: its W3C traceparent, as in 00-<trace>-<span>-01. "" leaves it as it is.
func WithTrace(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, traceparent)
}

// TraceOf returns the traceparent of a context; "" where it belongs to no trace.
func TraceOf(ctx context.Context) string {
	t, _ := ctx.Value(traceKey{}).(string)
	return t
}

// Place says what a line of a log is about, as far as it is known.
type Place struct {
	Tenant    string
	Cluster   string
	Operation int64
	Step      string
	Node      string
	Attempt   int
}

type placeKey struct{}

// At returns a context whose log lines are about a place.
func At(ctx context.Context, p Place) context.Context { return context.WithValue(ctx, placeKey{}, p) }

// PlaceOf returns the place of a context; the zero value where it has none.
func PlaceOf(ctx context.Context) Place {
	p, _ := ctx.Value(placeKey{}).(Place)
	return p
}

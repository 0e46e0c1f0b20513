package cli

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"muster/app/observe"
)

// NewLogger writes for people to w.
func NewLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(placed{slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})})
}

// NewJSONLogger writes for programs, a JSON object a line.
func NewJSONLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(placed{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

// placed adds to each line what its context carries: cluster, operation, step, attempt, and the trace.
type placed struct{ slog.Handler }

func (p placed) Handle(ctx context.Context, r slog.Record) error {
	at := observe.PlaceOf(ctx)
	text := func(name, value string) {
		if value != "" {
			r.AddAttrs(slog.String(name, value))
		}
	}
	number := func(name string, value int64) {
		if value != 0 {
			r.AddAttrs(slog.Int64(name, value))
		}
	}
	text("tenant", at.Tenant)
	text("cluster", at.Cluster)
	number("operation", at.Operation)
	text("step", at.Step)
	text("node", at.Node)
	number("attempt", int64(at.Attempt))
	if parts := strings.Split(observe.TraceOf(ctx), "-"); len(parts) == 4 {
		text("trace_id", parts[1])
		text("span_id", parts[2])
	}
	return p.Handler.Handle(ctx, r)
}

func (p placed) WithAttrs(attrs []slog.Attr) slog.Handler { return placed{p.Handler.WithAttrs(attrs)} }

func (p placed) WithGroup(name string) slog.Handler { return placed{p.Handler.WithGroup(name)} }

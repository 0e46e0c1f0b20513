package trace

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// remindEvery is how often failed exports are logged.
const remindEvery = time.Minute

// quiet logs failed exports at most once a minute. The SDK would call a process-wide handler.
type quiet struct {
	sdk.SpanExporter
	log  *slog.Logger
	last atomic.Int64 // last log line, in Unix seconds
}

// ExportSpans keeps errors from the SDK.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err == nil || q.log == nil {
		return nil
	}
	now, last := time.Now().Unix(), q.last.Load()
	if now-last >= int64(remindEvery/time.Second) && q.last.CompareAndSwap(last, now) {
		q.log.Warn("can't send spans to the collector", "spans", len(spans), "error", err)
	}
	return nil
}

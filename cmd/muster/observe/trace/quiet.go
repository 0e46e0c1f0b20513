package trace

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// remindEvery is how often it is said that a collector does not take spans.
const remindEvery = time.Minute

// quiet says at most once a minute that spans could not be sent. The SDK would tell a handler of the whole process.
type quiet struct {
	sdk.SpanExporter
	log  *slog.Logger
	last atomic.Int64 // when it was said, in Unix seconds
}

// ExportSpans keeps errors from the SDK.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err == nil || q.log == nil {
		return nil
	}
	now, last := time.Now().Unix(), q.last.Load()
	if now-last >= int64(remindEvery/time.Second) && q.last.CompareAndSwap(last, now) {
		q.log.Warn("spans could not be sent to the collector", "spans", len(spans), "error", err)
	}
	return nil
}

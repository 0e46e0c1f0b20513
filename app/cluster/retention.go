package cluster

import (
	"context"
	"time"
)

// RetentionStore forgets what was only written down to be read for a while. Receipts, the audit and operations with their steps
// are never forgotten.
type RetentionStore interface {
	// DropEvents deletes events that are older than before, from the feed's row after from on: a bounded number at once. Next
	// is where to continue, 0 where nothing more is due.
	DropEvents(ctx context.Context, before time.Time, from int64) (next int64, dropped int, err error)
	// DropLogs does the same with log lines of operations that ended before then.
	DropLogs(ctx context.Context, before time.Time, from int64) (next int64, dropped int, err error)
	// DropDurationStats forgets kinds of steps of which nothing was seen since then, a bounded number at once, and returns how many.
	DropDurationStats(ctx context.Context, before time.Time) (int, error)
	// DropAnswers forgets keys of requests that were taken before then, a bounded number at once, and returns how many.
	DropAnswers(ctx context.Context, before time.Time) (int, error)
}

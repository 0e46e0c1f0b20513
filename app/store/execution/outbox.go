package execution

import (
	"context"
	"time"

	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/db"
)

const outbox = `SELECT tenant, operation, idx, attempt FROM steps WHERE state = 'queued' AND dispatched_at = 0 LIMIT ?`

// Undispatched returns queued steps that are to be dispatched, in no order.
// A queued step that was never dispatched is the outbox. The order does not matter: any worker that
// wakes gets the best step, whichever the dispatch was for.
func (s *Store) Undispatched(ctx context.Context, limit int) ([]execution.OutboxEntry, error) {
	var dispatches []execution.OutboxEntry
	err := s.Each(ctx, func(row db.Scanner) error {
		var b execution.OutboxEntry
		err := row.Scan(&b.Tenant, &b.Operation, &b.Index, &b.Attempt)
		b.Attempt++
		dispatches = append(dispatches, b)
		return err
	}, outbox, limit)
	return dispatches, err
}

// MarkDispatched notes that steps were dispatched.
// A step that was claimed in the meantime is left alone.
func (s *Store) MarkDispatched(ctx context.Context, dispatches []execution.OutboxEntry, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.ExecKeyed(len(dispatches), `WITH v(o, i, a) AS (VALUES `, `(?, ?, ?)`, `) UPDATE steps SET dispatched_at = ? FROM v
			WHERE steps.operation = v.o AND steps.idx = v.i AND steps.attempt = v.a AND steps.state = 'queued'`, func(args []any, i int) []any {
			return append(args, dispatches[i].Operation, dispatches[i].Index, dispatches[i].Attempt-1)
		}, db.Micros(now))
	})
}

// dispatchedBefore picks queued steps that were dispatched long enough ago, or before the clock was set back.
const dispatchedBefore = `state = 'queued' AND (dispatched_at > 0 AND dispatched_at < ? OR dispatched_at > ?)`

// UnclaimedByTenant counts, for each tenant, the queued steps that were dispatched before then and that no one claimed.
func (s *Store) UnclaimedByTenant(ctx context.Context, before time.Time) (map[string]int, error) {
	unclaimed := map[string]int{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var tenant string
		var n int
		err := row.Scan(&tenant, &n)
		unclaimed[tenant] = n
		return err
	}, `SELECT tenant, count(*) FROM steps WHERE `+dispatchedBefore+` GROUP BY tenant`, db.Micros(before), db.Micros(before.Add(ledger.FarFuture)))
	return unclaimed, err
}

// Redispatch forgets the tenant's dispatches before then, or those of all tenants where it is "": they are to be sent
// again. It returns how many. A dispatch in the far future, from before the clock was set back, counts as old.
func (s *Store) Redispatch(ctx context.Context, tenant string, before time.Time) (int, error) {
	args := []any{db.Micros(before), db.Micros(before.Add(ledger.FarFuture)), tenant, tenant}
	var some bool
	err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM steps WHERE `+dispatchedBefore+` AND (? = '' OR tenant = ?))`, args...).Scan(&some)
	if err != nil || !some {
		return 0, err
	}
	var n int64
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err = t.Count(`UPDATE steps SET dispatched_at = 0 WHERE `+dispatchedBefore+` AND (? = '' OR tenant = ?)`, args...)
		t.Queued = t.Queued || n > 0
		return err
	})
	return int(n), err
}

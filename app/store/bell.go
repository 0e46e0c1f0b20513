package store

import (
	"context"
	"time"

	"muster/app"
	"muster/app/ledger"
)

const outbox = `SELECT tenant, operation, idx, attempt FROM steps WHERE state = 'queued' AND rung_at = 0 LIMIT ?`

// Unrung implements app.Ledger: a queued step that was never rung is the outbox. The order does not matter: whoever
// hears a bell is given the best step, whichever it was rung for.
func (s *operationStore) Unrung(ctx context.Context, limit int) ([]app.Bell, error) {
	var bells []app.Bell
	err := s.each(ctx, func(row scanner) error {
		var b app.Bell
		err := row.Scan(&b.Tenant, &b.Operation, &b.Index, &b.Attempt)
		b.Attempt++
		bells = append(bells, b)
		return err
	}, outbox, limit)
	return bells, err
}

// MarkRung implements app.Ledger. A step that was claimed in the meantime is left alone.
func (s *operationStore) MarkRung(ctx context.Context, bells []app.Bell, now time.Time) error {
	return s.write(ctx, func(t *tx) error {
		return t.execKeyed(len(bells), `WITH v(o, i, a) AS (VALUES `, `(?, ?, ?)`, `) UPDATE steps SET rung_at = ? FROM v
			WHERE steps.operation = v.o AND steps.idx = v.i AND steps.attempt = v.a AND steps.state = 'queued'`, func(args []any, i int) []any {
			return append(args, bells[i].Operation, bells[i].Index, bells[i].Attempt-1)
		}, micros(now))
	})
}

// rungBefore picks queued steps whose bell was rung long enough ago, or before the clock was set back.
const rungBefore = `state = 'queued' AND (rung_at > 0 AND rung_at < ? OR rung_at > ?)`

// Unheard implements app.Ledger.
func (s *operationStore) Unheard(ctx context.Context, before time.Time) (map[string]int, error) {
	unheard := map[string]int{}
	err := s.each(ctx, func(row scanner) error {
		var tenant string
		var n int
		err := row.Scan(&tenant, &n)
		unheard[tenant] = n
		return err
	}, `SELECT tenant, count(*) FROM steps WHERE `+rungBefore+` GROUP BY tenant`, micros(before), micros(before.Add(ledger.FarFuture)))
	return unheard, err
}

// Unring implements app.Ledger.
func (s *operationStore) Unring(ctx context.Context, tenant string, before time.Time) (int, error) {
	args := []any{micros(before), micros(before.Add(ledger.FarFuture)), tenant, tenant}
	var some bool
	err := s.row(ctx, `SELECT EXISTS (SELECT 1 FROM steps WHERE `+rungBefore+` AND (? = '' OR tenant = ?))`, args...).Scan(&some)
	if err != nil || !some {
		return 0, err
	}
	var n int64
	err = s.write(ctx, func(t *tx) error {
		n, err = t.count(`UPDATE steps SET rung_at = 0 WHERE `+rungBefore+` AND (? = '' OR tenant = ?)`, args...)
		t.queued = t.queued || n > 0
		return err
	})
	return int(n), err
}

package execution

import (
	"context"
	"time"

	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/db"
)

const outbox = `SELECT tenant, operation, idx, attempt FROM steps WHERE state = 'queued' AND rung_at = 0 LIMIT ?`

// Unrung returns queued steps whose doorbell is to be rung, in no order.
// : a queued step that was never rung is the outbox. The order does not matter: anyone who
// hears a bell is given the best step, whichever it was rung for.
func (s *Store) Unrung(ctx context.Context, limit int) ([]execution.Bell, error) {
	var bells []execution.Bell
	err := s.Each(ctx, func(row db.Scanner) error {
		var b execution.Bell
		err := row.Scan(&b.Tenant, &b.Operation, &b.Index, &b.Attempt)
		b.Attempt++
		bells = append(bells, b)
		return err
	}, outbox, limit)
	return bells, err
}

// MarkRung notes that doorbells were rung.
// A step that was claimed in the meantime is left alone.
func (s *Store) MarkRung(ctx context.Context, bells []execution.Bell, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.ExecKeyed(len(bells), `WITH v(o, i, a) AS (VALUES `, `(?, ?, ?)`, `) UPDATE steps SET rung_at = ? FROM v
			WHERE steps.operation = v.o AND steps.idx = v.i AND steps.attempt = v.a AND steps.state = 'queued'`, func(args []any, i int) []any {
			return append(args, bells[i].Operation, bells[i].Index, bells[i].Attempt-1)
		}, db.Micros(now))
	})
}

// rungBefore picks queued steps whose bell was rung long enough ago, or before the clock was set back.
const rungBefore = `state = 'queued' AND (rung_at > 0 AND rung_at < ? OR rung_at > ?)`

// Unheard counts, for each tenant, the queued steps whose bell was rung before then and that no one claimed.
func (s *Store) Unheard(ctx context.Context, before time.Time) (map[string]int, error) {
	unheard := map[string]int{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var tenant string
		var n int
		err := row.Scan(&tenant, &n)
		unheard[tenant] = n
		return err
	}, `SELECT tenant, count(*) FROM steps WHERE `+rungBefore+` GROUP BY tenant`, db.Micros(before), db.Micros(before.Add(ledger.FarFuture)))
	return unheard, err
}

// Unring forgets the tenant's bells rung before then, or those of all tenants where it is "": they are to be rung
// again. It returns how many. A bell of a far future, rung before the clock was set back, counts as rung before.
func (s *Store) Unring(ctx context.Context, tenant string, before time.Time) (int, error) {
	args := []any{db.Micros(before), db.Micros(before.Add(ledger.FarFuture)), tenant, tenant}
	var some bool
	err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM steps WHERE `+rungBefore+` AND (? = '' OR tenant = ?))`, args...).Scan(&some)
	if err != nil || !some {
		return 0, err
	}
	var n int64
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err = t.Count(`UPDATE steps SET rung_at = 0 WHERE `+rungBefore+` AND (? = '' OR tenant = ?)`, args...)
		t.Queued = t.Queued || n > 0
		return err
	})
	return int(n), err
}

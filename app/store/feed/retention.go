package feed

import (
	"context"
	"time"

	"muster/app/store/db"
)

func (s *Store) DropEvents(ctx context.Context, before time.Time, from int64) (next int64, dropped int, err error) {
	return s.drop(ctx, before, from, `SELECT seq, at, CASE WHEN at < ? THEN 1 ELSE 0 END FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
		`DELETE FROM events WHERE seq > ? AND seq <= ? AND at < ?`)
}

func (s *Store) DropLogs(ctx context.Context, before time.Time, from int64) (next int64, dropped int, err error) {
	return s.drop(ctx, before, from, `SELECT l.seq, l.at, CASE WHEN o.ended_at > 0 AND o.ended_at < ? THEN 1 ELSE 0 END FROM logs l
			JOIN operations o ON o.id = l.operation WHERE l.seq > ? ORDER BY l.seq LIMIT ?`,
		`DELETE FROM logs WHERE seq > ? AND seq <= ? AND operation IN (SELECT id FROM operations WHERE ended_at > 0 AND ended_at < ?)`)
}

// drop looks at the rows after from, in the order in which they were written, and deletes those of them that are due. Nothing
// more is due from the first batch on in which all rows are too young; a clock that was set may hide some until later.
func (s *Store) drop(ctx context.Context, before time.Time, from int64, look, remove string) (next int64, dropped int, err error) {
	var rows, due, old int
	last := from
	err = s.Each(ctx, func(row db.Scanner) error {
		var at int64
		var is int
		err := row.Scan(&last, &at, &is)
		rows, due = rows+1, due+is
		if at < db.Micros(before) {
			old++
		}
		return err
	}, look, db.Micros(before), from, db.DeleteBatch)
	if err != nil || old == 0 {
		return 0, 0, err
	}
	if due > 0 {
		err = s.Write(ctx, func(t *db.Tx) error {
			n, err := t.Count(remove, from, last, db.Micros(before))
			dropped = int(n)
			return err
		})
	}
	if rows == db.DeleteBatch {
		next = last
	}
	return next, dropped, err
}

package operation

import (
	"context"

	"muster/app"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// RollBacksDue returns, of all tenants, the operations that failed or were cancelled, whose OnFailure is FailureRollBack, and
// that no other operation has followed, oldest first.
// What is due is in an index of its own, which is empty nearly always, so that it
// can be asked for every second.
func (s *Store) RollBacksDue(ctx context.Context, limit int) (ops []app.Operation, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var o cluster.OperationRow
		err := row.Scan(o.Dest()...)
		ops = append(ops, o.Operation())
		return err
	}, `SELECT `+cluster.OperationColumns+` FROM operations o WHERE o.on_failure = 'roll_back' AND o.status IN ('failed', 'cancelled')
		AND o.followed_by = 0 ORDER BY o.id LIMIT ?`, limit)
	return ops, err
}

package session

import (
	"context"
	"time"

	"muster/app/store/db"
)

// UsePortTicket implements port.Store. Two servers that use a ticket at once write the same row, so one of them is second.
func (s *Store) UsePortTicket(ctx context.Context, nonce string, until, now time.Time) (first bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM port_tickets WHERE until <= ?`, db.Micros(now)); err != nil {
			return err
		}
		n, err := t.Count(`INSERT INTO port_tickets (nonce, until) VALUES (?, ?) ON CONFLICT (nonce) DO NOTHING`, nonce, db.Micros(until))
		first = n == 1
		return err
	})
	return first, err
}

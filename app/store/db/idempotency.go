package db

import "muster/app"

// marked notes with a write that the request of a key has changed something.
func marked(k app.IdempotencyKey, act func(*Tx) error) func(*Tx) error {
	return func(t *Tx) error {
		if err := act(t); err != nil {
			return err
		}
		return t.Exec(`UPDATE idempotency_keys SET changed = 1 WHERE tenant = ? AND account = ? AND name = ? AND changed = 0`, k.Tenant, k.User, k.Key)
	}
}

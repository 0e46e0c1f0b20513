package session

import (
	"context"
	"time"

	"muster/app/store/db"
)

// Sessions keeps the portal's sessions. Its methods are those that the portal's session manager asks of a store, with
// contexts; a token that is absent or has expired is found = false and no error.
type Sessions struct{ s *Store }

// Sessions returns the session store.
func (s *Store) Sessions() Sessions { return Sessions{s} }

// FindCtx returns a live session's data.
func (v Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	err = v.s.Row(ctx, `SELECT data FROM sessions WHERE token = ? AND expires_at > ?`,
		token, db.Micros(time.Now())).Scan(&data)
	if db.IsNoRows(err) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx writes a session, and clears away those that have expired.
func (v Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return v.s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM sessions WHERE expires_at <= ?`, db.Micros(time.Now())); err != nil {
			return err
		}
		return t.Exec(`INSERT INTO sessions (token, data, expires_at) VALUES (?, ?, ?)
			ON CONFLICT (token) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`, token, data, db.Micros(expiry))
	})
}

// DeleteCtx ends a session; an absent one is success.
func (v Sessions) DeleteCtx(ctx context.Context, token string) error {
	return v.s.Write(ctx, func(t *db.Tx) error { return t.Exec(`DELETE FROM sessions WHERE token = ?`, token) })
}

// Find is FindCtx without a context.
func (v Sessions) Find(token string) ([]byte, bool, error) {
	return v.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a context.
func (v Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return v.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a context.
func (v Sessions) Delete(token string) error { return v.DeleteCtx(context.Background(), token) }

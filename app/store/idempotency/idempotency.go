package idempotency

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/store/db"
)

func fingerprintAAD(k app.IdempotencyKey) string {
	return "idempotency_fingerprints/" + k.Tenant + "/" + k.User + "/" + k.Key
}

func answerAAD(k app.IdempotencyKey) string {
	return "idempotency_answers/" + k.Tenant + "/" + k.User + "/" + k.Key
}

func (s *Store) BeginOnce(ctx context.Context, k app.IdempotencyKey, fingerprint []byte, now time.Time) (kept *app.KeptAnswer, err error) {
	sealed := s.Seal(fingerprint, fingerprintAAD(k))
	err = s.Write(ctx, func(t *db.Tx) error {
		kept = nil
		var print, answer []byte
		var begun int64
		var changed bool
		err := t.Row(`SELECT fingerprint, begun_at, changed, answer FROM idempotency_keys WHERE tenant = ? AND account = ? AND name = ?`,
			k.Tenant, k.User, k.Key).Scan(&print, &begun, &changed, &answer)
		if db.IsNoRows(err) {
			var keys int
			if err := t.Row(`SELECT count(*) FROM idempotency_keys WHERE tenant = ? AND account = ?`, k.Tenant, k.User).Scan(&keys); err != nil {
				return err
			}
			if keys >= app.MaxIdempotencyKeys {
				return &app.Error{Code: app.ERateLimit, Reason: "idempotency_key", RetryAfter: time.Hour,
					Message: fmt.Sprintf("You've reached the limit of %d idempotency keys in 24 hours.", keys), Hint: "Send the request without a key, or wait."}
			}
			return t.Exec(`INSERT INTO idempotency_keys (tenant, account, name, fingerprint, begun_at, changed, answer) VALUES (?, ?, ?, ?, ?, 0, ?)`,
				k.Tenant, k.User, k.Key, sealed, db.Micros(now), []byte{})
		}
		if err != nil {
			return err
		}
		was, err := s.Unseal(print, fingerprintAAD(k))
		if err != nil {
			return err
		}
		switch {
		case subtle.ConstantTimeCompare(was, fingerprint) != 1:
			return &app.Error{Code: app.EInvalid, Reason: "idempotency_key", Field: "Idempotency-Key", Message: "This idempotency key was already used for a different request.",
				Hint: "Use a new key for each request, and reuse a key only to retry the same request."}
		case len(answer) > 0:
			b, err := s.Unseal(answer, answerAAD(k))
			if err != nil {
				return err
			}
			kept = &app.KeptAnswer{}
			return json.Unmarshal(b, kept)
		case now.Sub(db.FromMicros(begun)).Abs() < app.IdempotencyHold: // begun may be a little after now, which was read before this transaction
			return &app.Error{Code: app.EConflict, Reason: "in_progress", Message: "The same request is in progress.", Hint: "Try again in a moment.", RetryAfter: time.Second}
		case changed:
			return &app.Error{Code: app.EConflict, Reason: "answer_lost", Message: "This request completed, but its response was lost with the server that handled it.",
				Hint: "Check the result. To send the request again, use a new key."}
		}
		// Its server died before anything was written.
		return t.Exec(`UPDATE idempotency_keys SET begun_at = ? WHERE tenant = ? AND account = ? AND name = ?`, db.Micros(now), k.Tenant, k.User, k.Key)
	})
	return kept, err
}

func (s *Store) EndOnce(ctx context.Context, k app.IdempotencyKey, a app.KeptAnswer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	sealed := s.Seal(b, answerAAD(k))
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE idempotency_keys SET answer = ? WHERE tenant = ? AND account = ? AND name = ?`, sealed, k.Tenant, k.User, k.Key)
	})
}

func (s *Store) ReleaseOnce(ctx context.Context, k app.IdempotencyKey) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`DELETE FROM idempotency_keys WHERE tenant = ? AND account = ? AND name = ? AND changed = 0 AND length(answer) = 0`, k.Tenant, k.User, k.Key)
	})
}

func (s *Store) DropAnswers(ctx context.Context, before time.Time) (dropped int, err error) {
	var due bool
	if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE begun_at < ?)`, db.Micros(before)).Scan(&due); err != nil || !due {
		return 0, err
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		var last int64
		// The batch ends with the last of its moment, so that none is looked at twice.
		if err := t.Row(`SELECT max(begun_at) FROM (SELECT begun_at FROM idempotency_keys WHERE begun_at < ? ORDER BY begun_at LIMIT ?) AS oldest`,
			db.Micros(before), db.DeleteBatch).Scan(&last); err != nil {
			return err
		}
		n, err := t.Count(`DELETE FROM idempotency_keys WHERE begun_at <= ?`, last)
		dropped = int(n)
		return err
	})
	return dropped, err
}

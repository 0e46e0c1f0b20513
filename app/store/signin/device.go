package signin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
	"muster/app/store/token"
	"muster/app/store/user"
)

func scopesOf(text string) (scopes []app.Scope) {
	for _, s := range strings.Fields(text) {
		scopes = append(scopes, app.Scope(s))
	}
	return scopes
}

func (s *Store) AddDevice(ctx context.Context, hash, userHash []byte, d identity.Device, maxFrom, most int) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM device_codes WHERE expires_at <= ?`, db.Micros(d.At)); err != nil {
			return err
		}
		var from, all int
		if err := t.Row(`SELECT count(*) FROM device_codes WHERE origin = ?`, d.From).Scan(&from); err != nil {
			return err
		}
		if err := t.Row(`SELECT count(*) FROM device_codes`).Scan(&all); err != nil {
			return err
		}
		if from >= maxFrom {
			return &app.Error{Code: app.ERateLimit, Reason: "too_many_devices", Message: "Too many sign-ins from your address are in progress.",
				Hint: "Finish one, or wait until its code expires: at most 10 min.", RetryAfter: time.Minute}
		}
		if all >= most { // room is made where most is taken, so that no one is kept out
			if err := t.Exec(`DELETE FROM device_codes WHERE hash = (SELECT a.hash FROM device_codes a
				JOIN (SELECT origin, count(*) AS asks FROM device_codes GROUP BY origin) o ON o.origin = a.origin
				ORDER BY CASE WHEN a.answer = '' THEN 0 ELSE 1 END, o.asks DESC, a.at, a.hash LIMIT 1)`); err != nil {
				return err
			}
		}
		return t.Exec(`INSERT INTO device_codes (hash, user_hash, host, origin, agent, wanted, at, expires_at, polled_at, answer, answered_at, tenant, user_name, scopes)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, '', '', '')`,
			hash, userHash, d.Host, d.From, d.Agent, token.ScopeText(d.Wanted), db.Micros(d.At), db.Micros(d.ExpiresAt))
	})
}

const deviceColumns = `host, origin, agent, wanted, at, expires_at, answer, tenant, user_name, scopes, answered_at, polled_at`

func scanDevice(row db.Scanner) (d identity.DeviceGrant, answered, polled time.Time, err error) {
	var wanted, scopes string
	var at, expires, answeredAt, polledAt int64
	err = row.Scan(&d.Host, &d.From, &d.Agent, &wanted, &at, &expires, &d.Answer, &d.Tenant, &d.User, &scopes, &answeredAt, &polledAt)
	if db.IsNoRows(err) {
		err = &app.Error{Code: app.ENotFound, Reason: "expired_token", Message: "This code is invalid, expired or already used.", Hint: "Start again: muster login"}
	}
	d.At, d.ExpiresAt, d.Wanted, d.Scopes = db.FromMicros(at), db.FromMicros(expires), scopesOf(wanted), scopesOf(scopes)
	return d, db.FromMicros(answeredAt), db.FromMicros(polledAt), err
}

func (s *Store) Device(ctx context.Context, userHash []byte) (identity.Device, error) {
	d, _, _, err := scanDevice(s.Row(ctx, `SELECT `+deviceColumns+` FROM device_codes WHERE user_hash = ?`, userHash))
	return d.Device, err
}

func (s *Store) AnswerDevice(ctx context.Context, who app.Actor, userHash []byte, answer identity.DeviceAnswer, scopes []app.Scope, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		d, _, _, err := scanDevice(t.Row(`SELECT `+deviceColumns+` FROM device_codes WHERE user_hash = ? AND expires_at > ?`, userHash, db.Micros(at)))
		if err != nil {
			return err
		}
		if d.Answer != "" {
			return &app.Error{Code: app.EConflict, Message: "This sign-in has already been answered."}
		}
		if err := t.Exec(`UPDATE device_codes SET answer = ?, answered_at = ?, tenant = ?, user_name = ?, scopes = ? WHERE user_hash = ?`,
			string(answer), db.Micros(at), who.Tenant, who.User, token.ScopeText(scopes), userHash); err != nil {
			return err
		}
		facts := map[string]any{"host": d.Host, "from": d.From, "agent": d.Agent}
		if answer == identity.DeviceAllowed {
			facts["scopes"] = scopes
		}
		return t.AddAudit(at, who,
			"device."+map[identity.DeviceAnswer]string{identity.DeviceAllowed: "allow", identity.DeviceDenied: "deny"}[answer], d.Host, nil, facts)
	})
}

func (s *Store) TakeDevice(ctx context.Context, hash []byte, at time.Time, least time.Duration, issue func(identity.DeviceGrant) (identity.Token, []byte), most int) (taken identity.Token, err error) {
	var refused error // beside what is written
	err = s.Write(ctx, func(t *db.Tx) error {
		refused = nil
		d, answered, polled, err := scanDevice(t.Row(`SELECT `+deviceColumns+` FROM device_codes WHERE hash = ? AND expires_at > ?`, hash, db.Micros(at)))
		if err != nil {
			return err
		}
		if d.Answer == "" {
			refused = &app.Error{Code: app.EConflict, Reason: "authorization_pending", Message: "Waiting for confirmation in the portal."}
			if at.Sub(polled) < least && !polled.IsZero() {
				refused = &app.Error{Code: app.ERateLimit, Reason: "slow_down", Message: "You're polling too often.", RetryAfter: least}
			}
			return t.Exec(`UPDATE device_codes SET polled_at = ? WHERE hash = ?`, db.Micros(at), hash)
		}
		if err := t.Exec(`DELETE FROM device_codes WHERE hash = ?`, hash); err != nil {
			return err
		}
		if d.Answer == identity.DeviceDenied {
			refused = &app.Error{Code: app.EForbidden, Reason: "access_denied", Message: "The sign-in was denied in the portal."}
			return nil
		}
		u, err := user.Read(t, d.Tenant, d.User)
		if app.CodeOf(err) == app.ENotFound || err == nil && (u.Disabled() || u.CreatedAt.After(answered)) {
			refused = &app.Error{Code: app.EForbidden, Reason: "access_denied", Message: "The account that confirmed the sign-in was deleted or disabled."}
			return nil
		}
		if err != nil {
			return err
		}
		var has int
		if err := t.Row(`SELECT count(*) FROM api_tokens WHERE tenant = ? AND user_name = ?`, d.Tenant, d.User).Scan(&has); err != nil {
			return err
		}
		if has >= most {
			refused = &app.Error{Code: app.EConflict, Reason: "too_many", Message: fmt.Sprintf("%s already has %d tokens.", d.User, has), Hint: "Revoke unused tokens."}
			return nil
		}
		k, hash := issue(d)
		label := k.Label
		who := u.Actor()
		who.Via, who.From = app.ViaPortal, d.From
		for n := 2; k.ID == 0; n++ { // ends: there are fewer labels than tokens
			if k.ID, err = token.Add(t, who, k, hash); err != nil {
				return err
			}
			if k.ID == 0 {
				k.Label = fmt.Sprintf("%s %d", label, n)
			}
		}
		taken = k
		return nil
	})
	if err == nil {
		err = refused
	}
	return taken, err
}

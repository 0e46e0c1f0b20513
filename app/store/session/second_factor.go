package session

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/store/db"
	userdb "muster/app/store/user"
)

const factorColumns = `id, kind, name, encrypted, used_step, started_at, confirmed_at, used_at`

// factors reads those of an account that are confirmed, or its one app that is not. A secret whose key was lost is left empty: people must still be able to see
// and remove what they have, and to use a recovery code.
func (s *Store) factors(each func(func(db.Scanner) error, string, ...any) error, tenant, user string, confirmed bool) (list []identity.SecondFactor, err error) {
	which := `confirmed_at = 0`
	if confirmed {
		which = `confirmed_at > 0`
	}
	var sealed [][]byte
	err = each(func(row db.Scanner) error {
		var f identity.SecondFactor
		var secret []byte
		var started, added, used int64
		if err := row.Scan(&f.ID, &f.Kind, &f.Name, &secret, &f.UsedStep, &started, &added, &used); err != nil {
			return err
		}
		f.StartedAt, f.AddedAt, f.UsedAt = db.FromMicros(started), db.FromMicros(added), db.FromMicros(used)
		list, sealed = append(list, f), append(sealed, secret)
		return nil
	}, `SELECT `+factorColumns+` FROM second_factors WHERE tenant = ? AND user_name = ? AND `+which+`
		AND started_at >= (SELECT created_at FROM users WHERE tenant = ? AND name = ?) ORDER BY confirmed_at, id`, tenant, user, tenant, user)
	if err != nil {
		return nil, err
	}
	for i, b := range sealed {
		list[i].Secret, err = s.Unseal(b, "second_factors/"+list[i].ID)
		if err != nil && app.AsError(err).Reason != app.ReasonKeyLost {
			return nil, err
		}
	}
	return list, nil
}

func (s *Store) SecondFactors(ctx context.Context, tenant, user string) (f identity.SecondFactors, err error) {
	each := func(row func(db.Scanner) error, query string, args ...any) error {
		return s.Each(ctx, row, query, args...)
	}
	if f.Factors, err = s.factors(each, tenant, user, true); err != nil {
		return f, err
	}
	for i := range f.Factors {
		if f.Factors[i].Kind == identity.FactorApp {
			f.Factors[i].Secret = nil
		}
	}
	err = s.Row(ctx, `SELECT (SELECT count(*) FROM recovery_codes WHERE tenant = ? AND user_name = ? AND used_at = 0),
		coalesce((SELECT require_second_factor FROM tenants WHERE name = ?), 0) = 1`, tenant, user, tenant).Scan(&f.Codes, &f.Required)
	return f, err
}

func (s *Store) StartFactor(ctx context.Context, who app.Actor, f identity.SecondFactor, after time.Time) (identity.SecondFactor, error) {
	err := s.Write(ctx, func(t *db.Tx) error {
		have, err := s.factors(t.Each, who.Tenant, who.User, false)
		if err != nil {
			return err
		}
		if len(have) == 1 && have[0].StartedAt.After(after) && len(have[0].Secret) > 0 {
			f = have[0]
			return nil
		}
		if err := t.Exec(`DELETE FROM second_factors WHERE tenant = ? AND user_name = ? AND confirmed_at = 0`, who.Tenant, who.User); err != nil {
			return err
		}
		return s.insertFactor(t, who, f)
	})
	return f, err
}

func (s *Store) insertFactor(t *db.Tx, who app.Actor, f identity.SecondFactor) error {
	return t.Exec(`INSERT INTO second_factors (id, tenant, user_name, kind, name, encrypted, used_step, started_at, confirmed_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.ID, who.Tenant, who.User, f.Kind, f.Name, s.Seal(f.Secret, "second_factors/"+f.ID), f.UsedStep, db.Micros(f.StartedAt), db.Micros(f.AddedAt), db.Micros(f.UsedAt))
}

func (s *Store) AddFactor(ctx context.Context, who app.Actor, session int64, f identity.SecondFactor, check func(identity.SecondFactor) (int64, error), codes [][]byte) (first bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		had, err := s.factors(t.Each, who.Tenant, who.User, true)
		if err != nil {
			return err
		}
		first = len(had) == 0
		if check == nil {
			err = s.insertFactor(t, who, f)
		} else {
			f, err = s.confirm(t, who, f, check)
		}
		if err != nil {
			return err
		}
		if err := t.AddAudit(f.AddedAt, who, "second_factor.add", who.User, nil, factorFacts(f)); err != nil || !first {
			return err
		}
		n, err := t.Count(`UPDATE signins SET second_factor = ? WHERE id = ? AND tenant = ? AND user_name = ?
			AND revoked_at = 0`, f.Kind, session, who.Tenant, who.User)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.EUnauthorized, "This session was ended.")
		}
		if _, err := Revoke(t, who, who.User, 0, session, f.AddedAt); err != nil {
			return err
		}
		return setRecoveryCodes(t, who, codes)
	})
	return first, err
}

// confirm takes the app that the actor has started, if check accepts it.
func (s *Store) confirm(t *db.Tx, who app.Actor, f identity.SecondFactor, check func(identity.SecondFactor) (int64, error)) (identity.SecondFactor, error) {
	list, err := s.factors(t.Each, who.Tenant, who.User, false)
	if err != nil {
		return f, err
	}
	if len(list) != 1 || len(list[0].Secret) == 0 {
		return f, &app.Error{Code: app.EConflict, Reason: "expired", Message: "App setup isn't in progress.", Hint: "Start again."}
	}
	at := f.AddedAt
	f = list[0]
	f.AddedAt = at
	step, err := check(f)
	if err != nil {
		return f, err
	}
	return f, t.Exec(`UPDATE second_factors SET confirmed_at = ?, used_step = ? WHERE id = ?`, db.Micros(at), step, f.ID)
}

func factorFacts(f identity.SecondFactor) map[string]any {
	return map[string]any{"kind": f.Kind, "name": f.Name}
}

func setRecoveryCodes(t *db.Tx, who app.Actor, codes [][]byte) error {
	if err := t.Exec(`DELETE FROM recovery_codes WHERE tenant = ? AND user_name = ?`, who.Tenant, who.User); err != nil {
		return err
	}
	for _, c := range codes {
		if err := t.Exec(`INSERT INTO recovery_codes (tenant, user_name, hash, used_at) VALUES (?, ?, ?, 0)`, who.Tenant, who.User, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) UseFactor(ctx context.Context, who app.Actor, at time.Time, try func([]identity.SecondFactor, [][]byte) (identity.FactorUse, error)) (used identity.FactorUse, err error) {
	var wrong error // is written down, so it does not end the transaction
	err = s.Write(ctx, func(t *db.Tx) error {
		// Counting first takes the row, so that attempts at the same moment, at whichever server, wait for each other.
		failures, since, err := countCode(t, who, at)
		if err != nil {
			return err
		}
		if failures > identity.MostWrongCodes {
			wrong = &app.Error{Code: app.ERateLimit, Reason: "too_many_codes", Field: "code", Message: "Too many wrong codes were entered for this account.",
				Hint: "Try again in " + humanize.Duration(since.Add(identity.WrongCodesWithin).Sub(at).Truncate(time.Minute)+time.Minute) + ", or use a security key."}
		}
		factors, err := s.factors(t.Each, who.Tenant, who.User, true)
		if err != nil {
			return err
		}
		var codes [][]byte
		if err := t.Each(func(row db.Scanner) error {
			var c []byte
			err := row.Scan(&c)
			codes = append(codes, c)
			return err
		}, `SELECT hash FROM recovery_codes WHERE tenant = ? AND user_name = ? AND used_at = 0`, who.Tenant, who.User); err != nil {
			return err
		}
		limited := wrong
		used, wrong = try(factors, codes)
		if limited != nil && used.Kind != identity.FactorKey { // a key cannot be guessed
			wrong = limited
		}
		switch {
		case wrong != nil && failures == identity.MostWrongCodes:
			return t.Notice(app.Notice{At: at, Tenant: who.Tenant, Kind: app.NoticeAccount, Users: []string{who.User}, Title: fmt.Sprintf("%d wrong codes were entered for account %s", failures, who.User),
				Text: "The person who entered them knows your password. If it wasn't you, change it.", About: app.Subject{Kind: app.SubjectPassword}})
		case wrong != nil:
			return nil //nolint:nilerr // returned after the commit, which counts the failure
		}
		return s.usedFactor(t, who, used, at)
	})
	if err == nil {
		err = wrong
	}
	return used, err
}

// countCode counts an attempt as a failure, and returns how many there were within the window and when that began.
func countCode(t *db.Tx, who app.Actor, at time.Time) (failures int, since time.Time, err error) {
	old := db.Micros(at.Add(-identity.WrongCodesWithin))
	var began int64
	err = t.Row(`UPDATE users SET code_failures = CASE WHEN code_failed_at <= ? THEN 1 ELSE code_failures + 1 END,
		code_failed_at = CASE WHEN code_failed_at <= ? THEN ? ELSE code_failed_at END WHERE tenant = ? AND name = ? RETURNING code_failures, code_failed_at`,
		old, old, db.Micros(at), who.Tenant, who.User).Scan(&failures, &began)
	if db.IsNoRows(err) {
		err = userdb.NoUser(who.User)
	}
	return failures, db.FromMicros(began), err
}

// usedFactor notes what was used, and that nothing failed.
func (s *Store) usedFactor(t *db.Tx, who app.Actor, u identity.FactorUse, at time.Time) error {
	if err := t.Exec(`UPDATE users SET code_failures = 0, code_failed_at = 0 WHERE tenant = ? AND name = ?`, who.Tenant, who.User); err != nil {
		return err
	}
	switch u.Kind {
	case identity.FactorApp:
		return t.Exec(`UPDATE second_factors SET used_step = ?, used_at = ? WHERE id = ?`, u.Step, db.Micros(at), u.ID)
	case identity.FactorKey:
		return t.Exec(`UPDATE second_factors SET encrypted = ?, used_at = ? WHERE id = ?`, s.Seal(u.Secret, "second_factors/"+u.ID), db.Micros(at), u.ID)
	}
	if err := t.Exec(`UPDATE recovery_codes SET used_at = ? WHERE tenant = ? AND user_name = ? AND hash = ?`, db.Micros(at), who.Tenant, who.User, u.Code); err != nil {
		return err
	}
	var left int
	if err := t.Row(`SELECT count(*) FROM recovery_codes WHERE tenant = ? AND user_name = ? AND used_at = 0`, who.Tenant, who.User).Scan(&left); err != nil {
		return err
	}
	if err := t.AddAudit(at, who, "second_factor.recover", who.User, nil, map[string]any{"codes_left": left}); err != nil {
		return err
	}
	return t.Notice(app.Notice{At: at, Tenant: who.Tenant, Kind: app.NoticeAccount, Users: []string{who.User}, Title: fmt.Sprintf("A recovery code was used for account %s", who.User),
		Text: fmt.Sprintf("%s left. If it wasn't you, change your password and replace the codes.", humanize.CountOf(left, "code is", "codes are")), About: app.Subject{Kind: app.SubjectSecondFactor}})
}

func (s *Store) RemoveFactor(ctx context.Context, who app.Actor, id string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		list, err := s.factors(t.Each, who.Tenant, who.User, true)
		if err != nil {
			return err
		}
		for _, f := range list {
			if f.ID != id {
				continue
			}
			if err := t.Exec(`DELETE FROM second_factors WHERE id = ?`, id); err != nil {
				return err
			}
			if len(list) == 1 {
				if err := setRecoveryCodes(t, who, nil); err != nil {
					return err
				}
			}
			return t.AddAudit(at, who, "second_factor.remove", who.User, factorFacts(f), nil)
		}
		return app.Errorf(app.ENotFound, "This second factor doesn't exist.")
	})
}

func (s *Store) ResetFactors(ctx context.Context, who app.Actor, user string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		u, err := userdb.Read(t, who.Tenant, user)
		if err != nil {
			return err
		}
		if err := u.MayManage(who); err != nil {
			return err
		}
		if !u.SecondFactor {
			return &app.Error{Code: app.EConflict, Reason: "no_second_factor", Message: fmt.Sprintf("%s has no second factor.", user)}
		}
		for _, table := range []string{"second_factors", "recovery_codes"} {
			if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ? AND user_name = ?`, u.Tenant, u.Name); err != nil {
				return err
			}
		}
		if err := t.Exec(`UPDATE users SET code_failures = 0, code_failed_at = 0 WHERE tenant = ? AND name = ?`, u.Tenant, u.Name); err != nil {
			return err
		}
		if err := t.AddAudit(at, who, "second_factor.reset", user, nil, nil); err != nil {
			return err
		}
		// Anyone who has the lost phone may be signed in with it.
		if _, err := Revoke(t, who, user, 0, 0, at); err != nil {
			return err
		}
		return t.Notice(app.Notice{At: at, Tenant: u.Tenant, Kind: app.NoticeAccount, Users: []string{u.Name}, Title: fmt.Sprintf("%s removed the second factors of account %s", who.Name(), u.Name),
			Text: "The account now signs in with only a password. Add a second factor again on your account page.", About: app.Subject{Kind: app.SubjectSecondFactor}})
	})
}

func (s *Store) ReplaceRecoveryCodes(ctx context.Context, who app.Actor, codes [][]byte, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := setRecoveryCodes(t, who, codes); err != nil {
			return err
		}
		return t.AddAudit(at, who, "second_factor.codes", who.User, nil, map[string]any{"codes": len(codes)})
	})
}

func (s *Store) RequireSecondFactor(ctx context.Context, who app.Actor, required bool, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE tenants SET require_second_factor = ? WHERE name = ? AND require_second_factor <> ?`, db.Flag(required), who.Tenant, db.Flag(required))
		if err != nil || n == 0 {
			return err
		}
		return t.AddAudit(at, who, "second_factor.require", who.Tenant, map[string]any{"required": !required}, map[string]any{"required": required})
	})
}

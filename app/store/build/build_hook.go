package build

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	"muster/app/store/db"
	"muster/app/store/identity"
	"muster/app/webhook"
)

const buildHookColumns = `h.id, h.tenant, h.name, h.system, h.owner, h.rules, h.secret_at, h.old_until, h.enabled, h.last_at, h.refused_at, h.refused,
	h.created_by, h.created_at, h.changed_at, h.deleted_at, h.status_api, length(h.status_token), (SELECT count(*) FROM builds b WHERE b.hook = h.id AND b.live = 1)`

func scanBuildHook(row db.Scanner, more ...any) (h appbuild.BuildHook, err error) {
	var rules []byte
	var status, enabled, secretAt, oldUntil, last, refused, created, changed, deleted int64
	err = row.Scan(append([]any{&h.ID, &h.Tenant, &h.Name, &h.System, &h.Owner, &rules, &secretAt, &oldUntil, &enabled, &last, &refused, &h.Refused,
		&h.CreatedBy, &created, &changed, &deleted, &h.StatusAPI, &status, &h.Active}, more...)...)
	if err != nil {
		return h, err
	}
	h.Statuses = status > 0
	h.Enabled, h.Rules = enabled != 0, []appbuild.Rule{}
	h.SecretAt, h.OldSecretUntil, h.LastDeliveryAt, h.RefusedAt = db.FromMicros(secretAt), db.FromMicros(oldUntil), db.FromMicros(last), db.FromMicros(refused)
	h.CreatedAt, h.ChangedAt, h.DeletedAt = db.FromMicros(created), db.FromMicros(changed), db.FromMicros(deleted)
	if err := json.Unmarshal(rules, &h.Rules); err != nil {
		return h, fmt.Errorf("rules of build hook %s: %w", h.Name, err)
	}
	return h, nil
}

func errNoBuildHook(name string) error {
	return app.Errorf(app.ENotFound, "Build hook %q doesn't exist.", name)
}

func buildSecretAAD(id string) string { return "build_hook_secrets/" + id }
func buildTokenAAD(id string) string  { return "build_hook_tokens/" + id }
func buildStatusAAD(id string) string { return "build_hook_statuses/" + id }

func (s *Store) BuildHooks(ctx context.Context, tenant string) ([]appbuild.BuildHook, error) {
	list := []appbuild.BuildHook{}
	err := s.Each(ctx, func(row db.Scanner) error {
		h, err := scanBuildHook(row)
		list = append(list, h)
		return err
	}, `SELECT `+buildHookColumns+` FROM build_hooks h WHERE h.tenant = ? AND h.deleted_at = 0 ORDER BY h.name`, tenant)
	return list, err
}

const oneBuildHook = `SELECT ` + buildHookColumns + ` FROM build_hooks h WHERE h.tenant = ? AND h.name = ? AND h.deleted_at = 0`

func (s *Store) BuildHook(ctx context.Context, tenant, name string) (appbuild.BuildHook, error) {
	h, err := scanBuildHook(s.Row(ctx, oneBuildHook, tenant, name))
	if db.IsNoRows(err) {
		return h, errNoBuildHook(name)
	}
	return h, db.Wrapped(err)
}

func buildHook(t *db.Tx, tenant, name string) (appbuild.BuildHook, error) {
	h, err := scanBuildHook(t.Row(oneBuildHook, tenant, name))
	if db.IsNoRows(err) {
		return h, errNoBuildHook(name)
	}
	return h, db.Wrapped(err)
}

func (s *Store) BuildHookAt(ctx context.Context, id string, now time.Time) (h appbuild.BuildHook, secrets []string, err error) {
	var current, old []byte
	h, err = scanBuildHook(s.Row(ctx, `SELECT `+buildHookColumns+`, h.secret, h.old_secret FROM build_hooks h WHERE h.id = ? AND h.deleted_at = 0`, id), &current, &old)
	if db.IsNoRows(err) {
		return h, nil, app.Errorf(app.ENotFound, "The build hook doesn't exist.")
	}
	if err != nil {
		return h, nil, db.Wrapped(err)
	}
	sealed := [][]byte{current}
	if len(old) > 0 && now.Before(h.OldSecretUntil) {
		sealed = append(sealed, old)
	}
	for _, b := range sealed {
		secret, err := s.Unseal(b, buildSecretAAD(id))
		if err != nil {
			return h, nil, err
		}
		secrets = append(secrets, string(secret))
	}
	return h, secrets, nil
}

func (s *Store) BuildTokenKey(ctx context.Context, id string) ([]byte, error) {
	var sealed []byte
	err := s.Row(ctx, `SELECT token_key FROM build_hooks WHERE id = ?`, id).Scan(&sealed)
	if db.IsNoRows(err) {
		return nil, app.Errorf(app.ENotFound, "The build hook doesn't exist.")
	}
	if err != nil {
		return nil, db.Wrapped(err)
	}
	return s.Unseal(sealed, buildTokenAAD(id))
}

func (s *Store) SaveBuildHook(ctx context.Context, who app.Actor, c appbuild.BuildHookChange, now time.Time) (h appbuild.BuildHook, made bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		was, err := buildHook(t, who.Tenant, c.Name)
		if made = app.CodeOf(err) == app.ENotFound; made {
			err = s.makeBuildHook(t, who, c, now)
		} else if err == nil {
			err = s.changeBuildHook(t, was, c, now)
		}
		if err != nil {
			return err
		}
		if h, err = buildHook(t, who.Tenant, c.Name); err != nil {
			return err
		}
		act, before := "build_hook.create", any(nil)
		if !made {
			act, before = "build_hook.save", buildHookFacts(was, false)
		}
		return t.AddAudit(now, who, act, h.Name, before, buildHookFacts(h, made || c.Secret != ""))
	})
	return h, made, err
}

// buildHookFacts are what the audit keeps of a build hook.
func buildHookFacts(h appbuild.BuildHook, secret bool) map[string]any {
	rules := slices.Clone(h.Rules)
	for i, r := range rules {
		rules[i].Callback = r.RedactedCallback()
	}
	facts := map[string]any{"system": h.System, "owner": h.Owner, "rules": rules, "enabled": h.Enabled, "statuses": h.Statuses, "status_api": h.StatusAPI}
	if secret {
		facts["secret"] = "replaced"
	}
	return facts
}

func (s *Store) makeBuildHook(t *db.Tx, who app.Actor, c appbuild.BuildHookChange, now time.Time) error {
	var n int
	if err := t.Row(`SELECT count(*) FROM build_hooks WHERE tenant = ? AND deleted_at = 0`, who.Tenant).Scan(&n); err != nil {
		return err
	}
	if n >= appbuild.MaxBuildHooks {
		return &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf("A tenant can have at most %d build hooks.", appbuild.MaxBuildHooks), Hint: "Delete one that's no longer needed."}
	}
	if err := identity.TenantOpen(t, who.Tenant); err != nil {
		return err
	}
	rules, secret := []appbuild.Rule{}, c.Secret
	if c.Rules != nil && *c.Rules != nil {
		rules = *c.Rules
	}
	if secret == "" {
		secret = c.New
	}
	owner, api := "", ""
	if c.Owner != nil {
		owner = *c.Owner
	}
	if c.StatusAPI != nil {
		api = *c.StatusAPI
	}
	return t.Exec(`INSERT INTO build_hooks (id, tenant, name, system, owner, rules, secret, secret_at, old_secret, old_until, token_key, enabled, last_at,
			refused_at, refused, created_by, created_at, changed_at, deleted_at, status_token, status_api)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, x'', 0, ?, ?, 0, 0, '', ?, ?, ?, 0, ?, ?)`,
		c.ID, who.Tenant, c.Name, c.System, owner, db.JSON(rules), s.Seal([]byte(secret), buildSecretAAD(c.ID)), db.Micros(now),
		s.Seal(c.TokenKey, buildTokenAAD(c.ID)), db.Flag(c.Enabled == nil || *c.Enabled), who.Name(), db.Micros(now), db.Micros(now),
		s.sealStatus(c.StatusToken, c.ID), api)
}

// sealStatus seals the token of commit statuses; no token is stored as nothing.
func (s *Store) sealStatus(token *string, id string) []byte {
	if token == nil || *token == "" {
		return []byte{}
	}
	return s.Seal([]byte(*token), buildStatusAAD(id))
}

// dropStatuses gives up the commit statuses of a hook that were not written yet.
func dropStatuses(t *db.Tx, hook, why string, now time.Time) error {
	return t.Exec(`UPDATE build_callbacks SET outcome = 'failed', ended_at = ?, code = ?, error = ? WHERE kind = 'status' AND outcome = 'waiting'
		AND build IN (SELECT id FROM builds WHERE hook = ?)`, db.Micros(now), string(app.ECancelled), why, hook)
}

func (s *Store) changeBuildHook(t *db.Tx, h appbuild.BuildHook, c appbuild.BuildHookChange, now time.Time) error {
	set, args := `changed_at = ?`, []any{db.Micros(now)}
	change := func(text string, values ...any) {
		set += ", " + text
		args = append(args, values...)
	}
	if c.Owner != nil {
		change(`owner = ?`, *c.Owner)
	}
	if c.Rules != nil {
		change(`rules = ?`, db.JSON(slices.Concat([]appbuild.Rule{}, *c.Rules)))
	}
	if c.Enabled != nil {
		change(`enabled = ?`, db.Flag(*c.Enabled))
	}
	if c.StatusAPI != nil {
		// Checked before, and again here: another may have given the token meanwhile, for where the API was.
		if c.StatusToken == nil && h.Statuses && *c.StatusAPI != h.StatusAPI {
			return &app.Error{Code: app.EInvalid, Field: "status_api", Message: "The API's URL changed, but the token was entered for the old one.", Hint: "Enter the token again as well."}
		}
		change(`status_api = ?`, *c.StatusAPI)
	}
	if c.StatusToken != nil {
		change(`status_token = ?`, s.sealStatus(c.StatusToken, h.ID))
		if *c.StatusToken == "" {
			if err := dropStatuses(t, h.ID, "The hook no longer writes commit statuses.", now); err != nil {
				return err
			}
		}
	}
	if c.Secret != "" {
		change(`old_secret = secret, old_until = ?, secret = ?, secret_at = ?, refused = '', refused_at = 0`, db.Micros(now.Add(webhook.OldSecretTime)),
			s.Seal([]byte(c.Secret), buildSecretAAD(h.ID)), db.Micros(now))
	}
	if err := t.Exec(`UPDATE build_hooks SET `+set+` WHERE id = ?`, append(args, h.ID)...); err != nil {
		return err
	}
	// There may be room for more by now, or another owner.
	return Wake(t, now, `hook = ? AND state = 'waiting' AND live = 1`, h.ID)
}

func (s *Store) DeleteBuildHook(ctx context.Context, who app.Actor, name string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		h, err := buildHook(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if err := t.Exec(`UPDATE builds SET end_at = ?, message = 'Its hook was deleted.', due_at = ?, version = version + 1 WHERE hook = ? AND live = 1 AND end_at = 0`,
			db.Micros(now), db.Micros(now), h.ID); err != nil {
			return err
		}
		t.Topics[app.BuildsTopic()] = true
		if err := t.Exec(`UPDATE build_hooks SET deleted_at = ?, old_secret = x'', status_token = x'', secret = CASE WHEN `+callbacksToCome+` THEN secret ELSE x'' END WHERE id = ?`,
			db.Micros(now), h.ID); err != nil {
			return err
		}
		if err := dropStatuses(t, h.ID, "The hook was deleted.", now); err != nil {
			return err
		}
		for _, table := range []string{"build_deliveries", "build_delivery_ids", "build_outcomes"} {
			if err := t.Exec(`DELETE FROM `+table+` WHERE hook = ?`, h.ID); err != nil {
				return err
			}
		}
		return t.AddAudit(now, who, "build_hook.delete", name, buildHookFacts(h, false), nil)
	})
}

func (s *Store) NoteDeliveryRefused(ctx context.Context, id, why string, now time.Time) error {
	var last int64
	err := s.Row(ctx, `SELECT refused_at FROM build_hooks WHERE id = ?`, id).Scan(&last)
	if db.IsNoRows(err) || err == nil && last > 0 && now.Sub(db.FromMicros(last)).Abs() < 10*time.Second {
		return nil // anyone who sends much that is wrong should not make us write much
	}
	if err != nil {
		return db.Wrapped(err)
	}
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE build_hooks SET refused_at = ?, refused = ? WHERE id = ?`, db.Micros(now), why, id)
	})
}

// DropOf drops what a tenant has of builds; its clusters are gone by then.
func DropOf(t *db.Tx, tenant string) error {
	for _, query := range []string{
		`DELETE FROM build_outcomes WHERE hook IN (SELECT id FROM build_hooks WHERE tenant = ?)`,
		`DELETE FROM build_delivery_ids WHERE hook IN (SELECT id FROM build_hooks WHERE tenant = ?)`,
		`DELETE FROM build_deliveries WHERE tenant = ?`,
		`DELETE FROM build_callbacks WHERE tenant = ?`,
		`DELETE FROM builds WHERE tenant = ?`,
		`DELETE FROM build_hooks WHERE tenant = ?`,
	} {
		if err := t.Exec(query, tenant); err != nil {
			return err
		}
	}
	return nil
}

package webhook

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/store/db"
	"muster/app/store/ledger"
	"muster/app/store/operation"
	"muster/app/webhook"
)

// wordsText keeps words between commas, so that one of them can be looked for.
func wordsText[W ~string](words []W) string {
	text := ""
	for _, w := range words {
		text += "," + string(w)
	}
	if text != "" {
		text += ","
	}
	return text
}

func errNoHook(name string) error {
	return app.Errorf(app.ENotFound, "Webhook %q doesn't exist.", name)
}

func (s *Store) Hooks(ctx context.Context, tenant string) ([]webhook.Endpoint, error) {
	list := []webhook.Endpoint{}
	err := s.Each(ctx, func(row db.Scanner) error {
		h, err := ledger.ScanHook(row)
		list = append(list, h)
		return err
	}, `SELECT `+ledger.HookColumns+` FROM webhooks h WHERE h.tenant = ? ORDER BY h.name`, tenant)
	return list, err
}

func (s *Store) Hook(ctx context.Context, tenant, name string) (webhook.Endpoint, error) {
	h, err := ledger.ScanHook(s.Row(ctx, `SELECT `+ledger.HookColumns+` FROM webhooks h WHERE h.tenant = ? AND h.name = ?`, tenant, name))
	if db.IsNoRows(err) {
		return h, errNoHook(name)
	}
	return h, err
}

// hookNamed returns a hook within a transaction.
func hookNamed(t *db.Tx, tenant, name string) (webhook.Endpoint, error) {
	h, err := ledger.ScanHook(t.Row(`SELECT `+ledger.HookColumns+` FROM webhooks h WHERE h.tenant = ? AND h.name = ?`, tenant, name))
	if db.IsNoRows(err) {
		return h, errNoHook(name)
	}
	return h, err
}

func (s *Store) SaveHook(ctx context.Context, who app.Actor, c webhook.EndpointChange, now time.Time) (h webhook.Endpoint, made bool, err error) {
	secret := c.Secret
	if len(secret) == 0 {
		secret = c.New
	}
	url := s.Seal([]byte(c.URL), "hook_urls/"+who.Tenant+"/"+c.Name)
	sealed := s.Seal(secret, "hook_secrets/"+who.Tenant+"/"+c.Name)
	err = s.Write(ctx, func(t *db.Tx) error {
		was, err := hookNamed(t, who.Tenant, c.Name)
		if made = app.CodeOf(err) == app.ENotFound; made {
			err = makeHook(t, who, c, url, sealed, now)
		} else if err == nil {
			err = changeHook(t, was, c, url, sealed, now)
		}
		if err != nil {
			return err
		}
		if h, err = hookNamed(t, who.Tenant, c.Name); err != nil {
			return err
		}
		if err := webhook.CheckSavedHook(h); err != nil {
			return err
		}
		if h.Format == webhook.HookMail && h.To == "" {
			return &app.Error{Code: app.EInvalid, Field: "to", Message: "Format mail requires a recipient.", Hint: "For example ops@example.com."}
		}
		if h.State == webhook.HookActive && (made || was.State != webhook.HookActive) {
			if err := t.Exec(`UPDATE webhooks SET since = (SELECT COALESCE(max(id), 0) FROM notifications), stopped_reason = '', failures = 0
				WHERE id = ?`, h.ID); err != nil {
				return err
			}
		}
		if h.State == webhook.HookOff {
			if err := dropWaiting(t, h.ID, "The webhook was turned off before this was sent.", now); err != nil {
				return err
			}
			if err := operation.ReleaseHolds(t, h.ID, now); err != nil {
				return err
			}
		}
		act, before := "hook.create", any(nil)
		if !made {
			act, before = "hook.save", hookFacts(was, false)
		}
		return t.AddAudit(now, who, act, h.Name, before, hookFacts(h, len(c.Secret) > 0 || made))
	})
	return h, made, err
}

// hookFacts are what the audit keeps of a hook: nothing of its secret but that there is another one.
func hookFacts(h webhook.Endpoint, secret bool) map[string]any {
	facts := map[string]any{"url": h.URL, "format": h.Format, "kinds": h.Kinds, "state": h.State}
	if h.To != "" {
		facts["to"] = h.To
	}
	if h.When != "" {
		facts["when"], facts["operations"], facts["timeout"], facts["on_timeout"] = h.When, h.Operations, humanize.DurationField(h.Timeout), h.OnTimeout
		facts["script"], facts["services"] = h.Script, h.Services
	}
	if secret {
		facts["secret"] = "replaced"
	}
	return facts
}

func makeHook(t *db.Tx, who app.Actor, c webhook.EndpointChange, url, secret []byte, now time.Time) error {
	if c.URL == "" && c.Script == "" {
		return &app.Error{Code: app.EInvalid, Field: "url", Message: "URL is required.", Hint: "For example https://hooks.example.com/muster."}
	}
	var n int
	if err := t.Row(`SELECT count(*) FROM webhooks WHERE tenant = ?`, who.Tenant).Scan(&n); err != nil {
		return err
	}
	if n >= webhook.MaxHooks {
		return &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf("A tenant can have at most %d webhooks.", webhook.MaxHooks), Hint: "Delete one that's no longer needed."}
	}
	kinds, to := "", ""
	if c.Kinds != nil {
		kinds = wordsText(*c.Kinds)
	}
	if c.To != nil {
		to = *c.To
	}
	operations, services, patience := "", "", time.Duration(0)
	if c.Operations != nil {
		operations = wordsText(*c.Operations)
	}
	if c.Services != nil && len(*c.Services) > 0 {
		services = db.JSON(*c.Services)
	}
	if c.Timeout != nil {
		patience = *c.Timeout
	}
	format := c.Format
	if format == "" {
		format = webhook.HookMuster
	}
	return t.Exec(`INSERT INTO webhooks (tenant, name, url, shown, kinds, format, recipient, secret, secret_at, old_secret, old_until, enabled, stopped_reason,
			failures, since, last_id, last_at, last_took, last_status, last_code, last_error, phase, operations, timeout, on_timeout, script, on_services,
			created_by, created_at, changed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, x'', 0, ?, '', 0, 0, 0, 0, 0, 0, '', '', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		who.Tenant, c.Name, url, c.Shown, kinds, format, to, secret, db.Micros(now), c.Enabled == nil || *c.Enabled, string(c.When), operations, patience.Microseconds(),
		string(c.OnTimeout), c.Script, services, who.Name(), db.Micros(now), db.Micros(now))
}

func changeHook(t *db.Tx, h webhook.Endpoint, c webhook.EndpointChange, url, secret []byte, now time.Time) error {
	set, args := `changed_at = ?`, []any{db.Micros(now)}
	change := func(text string, values ...any) {
		set += ", " + text
		args = append(args, values...)
	}
	if c.URL != "" {
		change(`url = ?, shown = ?`, url, c.Shown)
	}
	if c.Kinds != nil {
		change(`kinds = ?`, wordsText(*c.Kinds))
	}
	if c.Format != "" {
		change(`format = ?`, c.Format)
	}
	if c.To != nil {
		change(`recipient = ?`, *c.To)
	}
	if c.When != "" && c.When != h.When {
		return &app.Error{Code: app.EInvalid, Field: "when", Message: "A webhook's when can't be changed.", Hint: "Create another webhook, and delete this one."}
	}
	if c.Operations != nil {
		change(`operations = ?`, wordsText(*c.Operations))
	}
	if c.Timeout != nil {
		change(`timeout = ?`, c.Timeout.Microseconds())
	}
	if c.OnTimeout != "" {
		change(`on_timeout = ?`, string(c.OnTimeout))
	}
	if c.Script != "" {
		change(`script = ?`, c.Script)
	}
	if c.Services != nil {
		services := ""
		if len(*c.Services) > 0 {
			services = db.JSON(*c.Services)
		}
		change(`on_services = ?`, services)
	}
	if c.Enabled != nil {
		change(`enabled = ?`, *c.Enabled)
		if *c.Enabled {
			change(`stopped_reason = ''`)
		}
	}
	if len(c.Secret) > 0 {
		change(`old_secret = secret, old_until = ?, secret = ?, secret_at = ?`, db.Micros(now.Add(webhook.OldSecretTime)), secret, db.Micros(now))
	}
	return t.Exec(`UPDATE webhooks SET `+set+` WHERE id = ?`, append(args, h.ID)...)
}

func (s *Store) DeleteHook(ctx context.Context, who app.Actor, name string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		h, err := hookNamed(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if err := operation.ReleaseHolds(t, h.ID, now); err != nil {
			return err
		}
		for _, query := range []string{
			`DELETE FROM webhook_attempts WHERE delivery IN (SELECT id FROM webhook_deliveries WHERE hook = ?)`,
			`DELETE FROM webhook_deliveries WHERE hook = ?`,
			`DELETE FROM webhooks WHERE id = ?`,
		} {
			if err := t.Exec(query, h.ID); err != nil {
				return err
			}
		}
		return t.AddAudit(now, who, "hook.delete", name, hookFacts(h, false), nil)
	})
}

// stopHook stops a hook by itself, and tells the admins.
func stopHook(t *db.Tx, h webhook.Endpoint, why string, now time.Time) error {
	if err := t.Exec(`UPDATE webhooks SET stopped_reason = ? WHERE id = ?`, why, h.ID); err != nil {
		return err
	}
	if err := dropWaiting(t, h.ID, "The webhook was stopped before this was sent.", now); err != nil {
		return err
	}
	server := app.Actor{Tenant: h.Tenant, User: "muster", Via: app.ViaServer}
	if err := t.AddAudit(now, server, "hook.stop", h.Name, nil, map[string]any{"why": why}); err != nil {
		return err
	}
	about := app.Subject{Kind: app.SubjectHook, ID: h.Name}
	return t.Notice(app.Notice{At: now, Tenant: h.Tenant, Kind: app.NoticeHook, Title: fmt.Sprintf("Webhook %q was stopped", h.Name),
		Text:  why + " Notifications aren't sent there until an admin turns it on again.",
		About: about, Act: about, ActionName: "View webhook"})
}

// dropWaiting ends what waits, but not what is being sent at this moment.
func dropWaiting(t *db.Tx, hook int64, why string, now time.Time) error {
	return t.Exec(`UPDATE webhook_deliveries SET state = 'failed', ended_at = ?, error = ?, code = ? WHERE hook = ? AND state = 'waiting' AND notice > 0
		AND held_until <= ?`, db.Micros(now), why, app.ECancelled, hook, db.Micros(now))
}

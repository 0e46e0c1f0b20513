package plugin

import (
	"context"

	"muster/app"
	"muster/app/plugin"
	"muster/app/program"
	"muster/app/store/db"
)

// Store keeps what was decided about programs of plugins.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// Plugins implements plugin.Store.
func (s *Store) Plugins(ctx context.Context) (all []plugin.Decision, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var d plugin.Decision
		var at int64
		err := row.Scan(&d.Name, &d.SHA256, &d.ChangedBy, &at)
		d.ChangedAt = db.FromMicros(at)
		all = append(all, d)
		return err
	}, `SELECT name, sha256, changed_by, changed_at FROM plugins ORDER BY name`)
	return all, err
}

// DecidePlugin implements plugin.Store.
func (s *Store) DecidePlugin(ctx context.Context, who app.Actor, d plugin.Decision) error {
	act, detail := "plugin.register", "sha256 "+d.SHA256
	if d.SHA256 == program.Removed {
		act, detail = "plugin.remove", ""
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO plugins (name, sha256, changed_by, changed_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
			d.Name, d.SHA256, d.ChangedBy, db.Micros(d.ChangedAt)); err != nil {
			return err
		}
		t.Topics[app.PluginsTopic()] = true
		return t.Audit(d.ChangedAt, who.Tenant, who.User, act, d.Name, detail)
	})
}

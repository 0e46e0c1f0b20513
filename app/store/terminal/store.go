package terminal

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/terminal"
)

// Store keeps terminals.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

const (
	columns = `id, tenant, cluster, node, username, recorded, opened_at, seen_at, ended_at, ended_by, expires_at, ` +
		`columns_at_start, rows_at_start, seconds, bytes`
	mostListed = 200
)

func scan(row db.Scanner) (t terminal.Terminal, err error) {
	var opened, seen, ended, expires int64
	err = row.Scan(&t.ID, &t.Tenant, &t.Cluster, &t.Node, &t.User, &t.Recorded, &opened, &seen, &ended, &t.EndedBy, &expires,
		&t.Size.Columns, &t.Size.Rows, &t.Seconds, &t.Bytes)
	t.OpenedAt, t.EndedAt = db.FromMicros(opened), db.FromMicros(ended)
	return t, err
}

// AddTerminal implements terminal.Store.
func (s *Store) AddTerminal(ctx context.Context, who app.Actor, x terminal.Terminal) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO terminals (`+columns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, ?, ?, 0, 0)`, x.ID, x.Tenant, x.Cluster, x.Node, x.User,
			db.Flag(x.Recorded), db.Micros(x.OpenedAt), db.Micros(x.OpenedAt), x.Size.Columns, x.Size.Rows); err != nil {
			return err
		}
		return t.Chain(who.AuditEntry(x.OpenedAt, "terminal.open", x.Cluster, x.Node+", terminal "+x.ID))
	})
}

// Terminal implements terminal.Store.
func (s *Store) Terminal(ctx context.Context, tenant, id string) (x terminal.Terminal, err error) {
	found := false
	err = s.Each(ctx, func(row db.Scanner) (err error) {
		found = true
		x, err = scan(row)
		return err
	}, `SELECT `+columns+` FROM terminals WHERE tenant = ? AND id = ?`, tenant, id)
	if err == nil && !found {
		err = app.Errorf(app.ENotFound, "There is no such terminal.")
	}
	return x, err
}

// Terminals implements terminal.Store.
func (s *Store) Terminals(ctx context.Context, tenant string, f terminal.Filter) (list []terminal.Terminal, err error) {
	where, args := []string{"tenant = ?"}, []any{tenant}
	and := func(text string, arg ...any) { where, args = append(where, text), append(args, arg...) }
	if f.Cluster != "" {
		and("cluster = ?", f.Cluster)
	}
	if f.User != "" {
		and("username = ?", f.User)
	}
	if f.Open {
		and("ended_at = 0")
	}
	most := f.Limit
	if most <= 0 || most > mostListed {
		most = mostListed
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		x, err := scan(row)
		list = append(list, x)
		return err
	}, `SELECT `+columns+` FROM terminals WHERE `+strings.Join(where, " AND ")+` ORDER BY opened_at DESC, id LIMIT ?`, append(args, most)...)
	return list, err
}

// endSQL ends terminals. They are kept as long as their tenant wants then.
const endSQL = `UPDATE terminals SET ended_at = ?, ended_by = ?, expires_at = CAST(? AS BIGINT) +
	COALESCE((SELECT keep_days FROM terminal_settings s WHERE s.tenant = terminals.tenant), CAST(? AS BIGINT)) * CAST(? AS BIGINT)`

// EndTerminal implements terminal.Store.
func (s *Store) EndTerminal(ctx context.Context, who app.Actor, id, by string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var cluster, node string
		err := t.Row(endSQL+` WHERE tenant = ? AND id = ? AND ended_at = 0 RETURNING cluster, node`, db.Micros(now), by, db.Micros(now),
			terminal.DefaultKeepDays, microsOfDay, who.Tenant, id).Scan(&cluster, &node)
		if db.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return db.Wrapped(err)
		}
		return t.Chain(who.AuditEntry(now, "terminal.end", cluster, node+", terminal "+id))
	})
}

// DropOf removes all of a tenant.
func DropOf(t *db.Tx, tenant string) error {
	if err := t.Exec(`DELETE FROM terminal_chunks WHERE terminal IN (SELECT id FROM terminals WHERE tenant = ?)`, tenant); err != nil {
		return err
	}
	for _, table := range []string{"terminals", "terminal_settings", "tunnels"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}

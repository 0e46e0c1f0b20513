package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// renamed is the migration that renamed tables and columns. Older backups are loaded into tables with the names from before.
const renamed = 63

var beforeRenamed = strings.NewReplacer("sequences", "counters", "dispatched_at", "rung_at", "webhook_deliveries", "hook_deliveries",
	"cluster_health SET batch = batch", "health_rounds SET round = round", "create_attempts", "asked", "lease_reminder_at", "warn_at")

// postRestore makes rows from before true again for a world that continued. All of it is in the transaction that brings them in.
type postRestore struct {
	Restored
	ctx    context.Context
	moment *Moment
	sqlite bool
	tables []Table
}

func (w *postRestore) run(out *Outcome) error {
	for _, act := range []func(*Outcome) error{w.opens, w.numbers, w.claims, w.machines, w.leases, w.people, w.marks} {
		if err := act(out); err != nil {
			return err
		}
	}
	return nil
}

// exec executes and returns how many rows changed.
func (w *postRestore) exec(query string, args ...any) (int64, error) {
	if w.Migration < renamed {
		query = beforeRenamed.Replace(query)
	}
	query, args = w.moment.words.rewrite(query, args)
	r, err := w.moment.Tx.ExecContext(w.ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	return r.RowsAffected()
}

func (w *postRestore) all(queries ...string) error {
	for _, q := range queries {
		if _, err := w.exec(q); err != nil {
			return err
		}
	}
	return nil
}

// opens refuses a backup whose data keys the keeper does not open: nothing sealed in it would ever be read.
func (w *postRestore) opens(*Outcome) error {
	if w.Keeper == nil {
		return nil
	}
	return opensNewest(w.ctx, w.moment, w.Keeper)
}

// numbers continue far beyond those that may have been handed out since: operations are known to nodes, clusters to clouds, deliveries to
// those who got them, events to anyone who follows them.
func (w *postRestore) numbers(*Outcome) error {
	// Numbers of operations are those of their rows. One that did nothing, of no one, keeps the place.
	if _, err := w.exec(`INSERT INTO operations (id, tenant, cluster, kind, status, plan_hash, requester, message, total, done, unfinished, active, expected, created_at, started_at, ended_at)
		SELECT coalesce(max(id), 0) + ?, '', '', 'restore', 'succeeded', '', '', 'A backup was restored.', 0, 0, 0, 0, 0, ?, ?, ? FROM operations`,
		Ahead, Micros(w.Now), Micros(w.Now), Micros(w.Now)); err != nil {
		return err
	}
	if _, err := w.exec(`INSERT INTO sequences (name, value) VALUES ('cluster', ?) ON CONFLICT (name) DO UPDATE SET value = sequences.value + excluded.value`, Ahead); err != nil {
		return err
	}
	if err := w.all(`UPDATE sequences SET value = value + 1 WHERE name = 'shares'`); err != nil {
		return err
	}
	if w.sqlite {
		return w.sqliteNumbers()
	}
	return w.postgresNumbers()
}

// sqliteNumbers moves the counters of tables whose numbers are never given twice. A table that had no row has no counter.
func (w *postRestore) sqliteNumbers() error {
	var tables []string
	if err := Each(w.ctx, w.moment, func(row Scanner) error {
		var name string
		err := row.Scan(&name)
		tables = append(tables, name)
		return err
	}, `SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT LIKE 'goose%'`); err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := w.exec(`DELETE FROM sqlite_sequence WHERE name = ?`, t); err != nil {
			return err
		}
		if _, err := w.exec(`INSERT INTO sqlite_sequence (name, seq) SELECT ?, coalesce(max(rowid), 0) + ? FROM `+t, t, Ahead); err != nil {
			return err
		}
	}
	return nil
}

func (w *postRestore) postgresNumbers() error {
	type identity struct{ table, column string }
	var found []identity
	if err := Each(w.ctx, w.moment, func(row Scanner) error {
		var i identity
		err := row.Scan(&i.table, &i.column)
		found = append(found, i)
		return err
	}, `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES' AND table_name <> 'goose_db_version'`); err != nil {
		return err
	}
	for _, i := range found {
		ahead := int64(Ahead)
		if i.table == "operations" {
			ahead = 0 // the row that keeps the place is there
		}
		if _, err := w.exec(`SELECT setval(pg_get_serial_sequence(?, ?), (SELECT coalesce(max(`+i.column+`), 0) + ? FROM `+i.table+`) + 1, false)`, i.table, i.column, ahead); err != nil {
			return err
		}
	}
	return nil
}

// claims of operations that had not ended get greater epochs than nodes can have seen of them, and no claim holds any more: those who had
// them are gone, or may not report. Workers' tokens are signed with a key that is made again.
func (w *postRestore) claims(out *Outcome) error {
	const open = `status IN ('waiting', 'running', 'paused', 'cancelling')`
	if err := w.moment.QueryRowContext(w.ctx, `SELECT count(*) FROM operations WHERE `+open).Scan(&out.Operations); err != nil {
		return Wrapped(err)
	}
	// Those that failed can be resumed.
	if _, err := w.exec(`UPDATE operations SET claims = claims + ? WHERE `+open+` OR status IN ('failed', 'cancelled') AND followed_by = 0`, Ahead); err != nil {
		return err
	}
	return w.all(
		`UPDATE steps SET deadline = 1 WHERE state = 'running'`,
		`UPDATE steps SET dispatched_at = 0 WHERE state = 'queued'`,
		`UPDATE cluster_health SET batch = batch + `+strconv.Itoa(Ahead),
		`UPDATE webhook_deliveries SET held_until = 0, holder = '' WHERE state = 'waiting'`,
		`UPDATE chat_workspaces SET held_until = 0, holder = ''`,
		`UPDATE accounts SET held_until = 0, holder = ''`,
		`UPDATE pools SET version = version + `+strconv.Itoa(Ahead),
		`DELETE FROM settings WHERE name = 'worker_key'`,
	)
}

// machines that were wanted may have been asked for since.
func (w *postRestore) machines(out *Outcome) error {
	if err := w.moment.QueryRowContext(w.ctx, `SELECT count(*) FROM clusters WHERE deleted_at = 0 AND pool = 0`).Scan(&out.Clusters); err != nil {
		return Wrapped(err)
	}
	return w.all(`UPDATE intents SET create_attempts = create_attempts + 1 WHERE ended_at = 0`)
}

// leases may have been made longer since. Anyone who needs a cluster gets time to say so.
func (w *postRestore) leases(out *Outcome) error {
	until := Micros(w.Now.Add(w.Lease))
	n, err := w.exec(`UPDATE clusters SET expires_at = ?, lease_reminder_at = 1 WHERE deleted_at = 0 AND expires_at > 0 AND expires_at < ?`, until, until)
	if err != nil {
		return err
	}
	out.Leases = int(n)
	if w.Migration < volumesMade {
		return w.reservations(until)
	}
	set := `expires_at = ?`
	if w.Migration >= volumesExpire {
		set += `, expiry_notified = 0`
	}
	if _, err := w.exec(`UPDATE volumes SET `+set+` WHERE state = 'kept' AND expires_at > 0 AND expires_at < ?`, until, until); err != nil {
		return err
	}
	return w.reservations(until)
}

// volumesMade is the migration that made the table of volumes: older backups have none.
const volumesMade = 72

// volumesExpire is the migration since which owners are notified before their volumes expire.
const volumesExpire = 79

func (w *postRestore) reservations(until int64) error {
	_, err := w.exec(`UPDATE reservations SET until_at = ? WHERE ended_at = 0 AND until_at > 0 AND until_at < ?`, until, until)
	return err
}

// people sign in again: what was ended since would count again.
func (w *postRestore) people(*Outcome) error {
	_, err := w.exec(`UPDATE signins SET revoked_at = ?, revoked_by = ? WHERE revoked_at = 0`, Micros(w.Now), "restore")
	return err
}

// marks ends the time in which servers refuse the database: the row that said so went with the others.
func (w *postRestore) marks(*Outcome) error {
	var id string
	switch err := w.moment.QueryRowContext(w.ctx, `SELECT value FROM settings WHERE name = 'installation'`).Scan(&id); {
	case IsNoRows(err):
		return badBackup("the installation's ID is missing")
	case err != nil:
		return Wrapped(err)
	}
	_, err := w.exec(`DELETE FROM settings WHERE name = ?`, restoringRow)
	return err
}

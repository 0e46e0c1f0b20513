package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// Ahead is by how much numbers continue after a backup was brought in. What was handed out after the backup was made is known outside: to nodes, clouds, build
// systems, browsers. None of it may be handed out again.
const Ahead = 1_000_000

// Restored is what is brought into a database.
type Restored struct {
	Migration int64   // of the backup
	Tables    []Table // of the backup
	// Load puts every row, in any order: the values of its table's columns in their order, as Snapshot.Rows gave them.
	Load func(put func(table string, row []any) error) error
	// Keeper opens the data keys. Nil: no one looks whether it does.
	Keeper KeyKeeper
	Now    time.Time
	// Lease is for how long at least clusters live on whose lease would end before.
	Lease time.Duration
}

// Outcome is what was done beside bringing rows in.
type Outcome struct {
	Rows       int         `json:"rows"`
	Leases     int         `json:"leases"`     // that were made longer
	Operations int         `json:"operations"` // in progress when the backup was made
	Clusters   int         `json:"clusters"`   // that stand
	Migrated   []Migration `json:"migrated,omitempty"`
}

// Restore brings a backup into a database that has no installation. A file appears when all of it is there, and not at all otherwise. A PostgreSQL
// database gets
// its tables, and then all rows in one transaction; where that ends before its time, servers refuse the database until it was done again. Then later
// migrations are
// made. EConflict where there is an installation, or the backup is of a newer program or of another key; EInvalid for rows that do not fit.
//
// Time goes back for the rows, but not for what they speak of. So numbers continue far beyond those that may have been handed out since; each machine
// that was being made is looked for before it
// is asked for again; claims have greater epochs than nodes have seen; all tokens of workers are void; leases that ended meanwhile get some time; and
// everyone has to sign in again.
func Restore(ctx context.Context, where string, r Restored) (Outcome, error) {
	if r.Migration > newest() {
		return Outcome{}, &app.Error{Code: app.EConflict, Reason: "too_new", Message: fmt.Sprintf("The backup was made by a newer Muster (migration %d; this version knows %d).", r.Migration, newest()),
			Hint: "Restore the backup with that version, or a newer one."}
	}
	if isPostgres(where) {
		return restorePostgres(ctx, where, r)
	}
	return restoreSQLite(ctx, where, r)
}

// Empty is nil where a backup may be brought into a database: there is no file, or no installation in a PostgreSQL database. EConflict otherwise.
func Empty(ctx context.Context, where string) error {
	if !isPostgres(where) {
		if _, err := os.Stat(where); err == nil {
			return notEmpty(where)
		}
		return nil
	}
	return emptyPostgres(ctx, where)
}

func restoreSQLite(ctx context.Context, where string, r Restored) (Outcome, error) {
	if err := Empty(ctx, where); err != nil {
		return Outcome{}, err
	}
	building := where + ".restoring"
	tidy := func() {
		for _, end := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(building + end)
		}
	}
	tidy() // what was begun before and did not end
	defer tidy()
	if err := runMigrations(ctx, building, r.Migration); err != nil {
		return Outcome{}, err
	}
	out, err := loadSQLite(ctx, building, r)
	if err != nil {
		return Outcome{}, err
	}
	if out.Migrated, err = MigrateTo(ctx, building, 0); err != nil {
		return Outcome{}, err
	}
	// All of it moves into the one file, which is then whole without its neighbours.
	db, err := sql.Open("sqlite", dsn(building, "_pragma=synchronous(FULL)"))
	if err != nil {
		return Outcome{}, fmt.Errorf("store: %w", err)
	}
	db.SetMaxOpenConns(1)
	var sound string
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if err == nil {
		err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&sound)
	}
	if err == nil && sound != "ok" {
		err = errors.New(sound)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return Outcome{}, fmt.Errorf("store: %w", err)
	}
	if err := os.Chmod(building, 0o600); err != nil {
		return Outcome{}, fmt.Errorf("store: %w", err)
	}
	if err := os.Link(building, where); err != nil { // unlike a rename it replaces nothing
		return Outcome{}, fmt.Errorf("store: %w", err)
	}
	return out, syncDir(filepath.Dir(where))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

func notEmpty(where string) error {
	return &app.Error{Code: app.EConflict, Reason: "not_empty", Message: "An installation already exists in " + where + ".",
		Hint: "Restore into an empty data directory or database, or move the existing one away: see docs/runbooks.md."}
}

func loadSQLite(ctx context.Context, file string, r Restored) (out Outcome, err error) {
	db, err := sql.Open("sqlite", dsn(file, "_txlock=immediate", "_pragma=synchronous(FULL)"))
	if err != nil {
		return out, fmt.Errorf("store: %w", err)
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	return load(ctx, db, sqliteDialect{}, r, func(tx *sql.Tx) putter { return &sqlitePutter{ctx: ctx, tx: tx, stmts: map[string]*sql.Stmt{}} })
}

// putter writes rows into tables that are empty.
type putter interface {
	put(t Table, row []any) error
	flush() error
}

// beginner is a database, or one connection to it.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// load does all that is done in one transaction.
func load(ctx context.Context, db beginner, words dialect, r Restored, open func(*sql.Tx) putter) (out Outcome, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return out, fmt.Errorf("store: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	m := &Moment{tx, words}
	_, sqlite := words.(sqliteDialect)
	here, err := tablesOf(ctx, m, sqlite)
	if err != nil {
		return out, err
	}
	if err := sameTables(r.Tables, here); err != nil {
		return out, err
	}
	tables := map[string]Table{}
	for _, t := range here {
		// Migrations leave a few rows of their own. Those of the audit cannot be deleted, and there are none.
		if tables[t.Name] = t; t.Name != "audit" {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+t.Name); err != nil {
				return out, fmt.Errorf("store: %w", err)
			}
		}
	}
	p := open(tx)
	if err := r.Load(func(name string, row []any) error {
		t, ok := tables[name]
		if !ok || len(row) != len(t.Columns) {
			return badBackup(fmt.Sprintf("a row of %.60q has %d values", name, len(row)))
		}
		out.Rows++
		return p.put(t, row)
	}); err != nil {
		return out, err
	}
	if err := p.flush(); err != nil {
		return out, err
	}
	w := postRestore{ctx: ctx, moment: m, sqlite: sqlite, tables: here, Restored: r}
	if err := w.run(&out); err != nil {
		return out, err
	}
	if err := tx.Commit(); err != nil {
		return out, fmt.Errorf("store: %w", err)
	}
	return out, nil
}

func badBackup(why string) error {
	return &app.Error{Code: app.EInvalid, Reason: "bad_backup", Message: "This program didn't make this backup: " + why + "."}
}

// sameTables compares the tables of a backup with those of the same migration here.
func sameTables(theirs, ours []Table) error {
	for _, t := range theirs {
		i := slices.IndexFunc(ours, func(o Table) bool { return o.Name == t.Name })
		if i < 0 {
			return badBackup(fmt.Sprintf("unknown table %.60q", t.Name))
		}
		if !slices.Equal(t.Columns, ours[i].Columns) {
			return badBackup("table " + t.Name + " has different columns")
		}
	}
	for _, o := range ours {
		if !slices.ContainsFunc(theirs, func(t Table) bool { return t.Name == o.Name }) {
			return badBackup("its table " + o.Name + " is missing")
		}
	}
	return nil
}

type sqlitePutter struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
}

func (p *sqlitePutter) put(t Table, row []any) error {
	st := p.stmts[t.Name]
	if st == nil {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
		var err error
		if st, err = p.tx.PrepareContext(p.ctx, `INSERT INTO `+t.Name+` (`+strings.Join(columns, ", ")+`) VALUES (?`+strings.Repeat(", ?", len(columns)-1)+`)`); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		p.stmts[t.Name] = st
	}
	if _, err := st.ExecContext(p.ctx, row...); err != nil {
		return fmt.Errorf("store: %s: %w", t.Name, err)
	}
	return nil
}

func (p *sqlitePutter) flush() error {
	for _, st := range p.stmts {
		if err := st.Close(); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}

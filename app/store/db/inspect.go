package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"muster/app"
	"muster/migrations"
)

// Migration is one of the numbered changes of the tables.
type Migration struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
}

// Inspection is how a database was found, without anything having been changed in it.
type Inspection struct {
	Kind    string `json:"kind"` // "SQLite" or "PostgreSQL"
	Version string `json:"version"`
	// Made tells that our tables exist. Without them the rest is empty.
	Made         bool        `json:"made"`
	Installation string      `json:"installation,omitempty"`
	Migration    int64       `json:"migration"`         // the last that was applied
	Newest       int64       `json:"newest"`            // the last that this program knows
	Needs        int64       `json:"needs"`             // what a program has to know at least to work with it; 0: nothing said
	Pending      []Migration `json:"pending,omitempty"` // those that are known here and were not applied
	Restoring    bool        `json:"restoring,omitempty"`

	Skew time.Duration `json:"skew"` // how far our clock is ahead of the database's; 0 for a file
	Size int64         `json:"size"` // bytes on disk; 0 if unknown
}

// Rows of settings that say how a database may be used.
const (
	needsRow     = "needs_migration" // a migration that older programs cannot work with writes its own number here
	restoringRow = "restoring"       // there while a backup is being brought in
)

var migrationFile = regexp.MustCompile(`^(\d+)_(.+)\.sql$`)

// Migrations returns all that this program knows, in order.
func Migrations() []Migration {
	entries, _ := fs.ReadDir(migrations.FS, ".") // an embedded directory is always there
	var all []Migration
	for _, e := range entries {
		if m := migrationFile.FindStringSubmatch(e.Name()); m != nil {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			all = append(all, Migration{n, m[2]})
		}
	}
	return all
}

func newest() int64 {
	all := Migrations()
	return all[len(all)-1].Number
}

// Inspect looks at a database, which may be in use: the file at where, or the one behind a postgres:// URL. It changes nothing and makes nothing.
// ENotFound where there is no file; else the errors of OpenWith.
func Inspect(ctx context.Context, where string) (Inspection, error) {
	r, err := openToRead(ctx, where, nil)
	if err != nil {
		return Inspection{}, err
	}
	defer r.db.Close()
	return inspect(ctx, r)
}

// CheckKey reports whether a key-encryption key opens the newest data key of a database. It changes nothing. The errors are those of OpenWith; nil also where
// there is no data key yet.
func CheckKey(ctx context.Context, where string, keeper KeyKeeper) error {
	r, err := openToRead(ctx, where, nil)
	if err != nil {
		return err
	}
	defer r.db.Close()
	found, err := inspect(ctx, r)
	if err != nil || !found.Made {
		return err
	}
	return opensNewest(ctx, r, keeper)
}

// opensNewest returns nil if a keeper opens the newest data key, or if there is none.
func opensNewest(ctx context.Context, r Reader, keeper KeyKeeper) error {
	var d dataKey
	err := r.QueryRowContext(ctx, `SELECT id, wrapped, kek FROM data_keys ORDER BY id DESC LIMIT 1`).Scan(&d.id, &d.wrapped, &d.kek)
	if IsNoRows(err) {
		return nil
	}
	if err != nil {
		return Wrapped(err)
	}
	return opens(ctx, keeper, d)
}

// opens reports whether a keeper opens a data key.
func opens(ctx context.Context, keeper KeyKeeper, d dataKey) error {
	key, err := keeper.Unwrap(ctx, d.wrapped)
	if err == nil {
		_, err = newAEAD(key)
	}
	if isWrongKey(err) {
		return wrongKey(d.kek)
	}
	return keeperError(keeper, err)
}

// openToRead opens a database for reading only. Params are for PostgreSQL alone.
func openToRead(ctx context.Context, where string, params map[string]string) (*Reads, error) {
	if isPostgres(where) {
		return readPostgres(ctx, where, params)
	}
	if name, _, url := strings.Cut(where, "://"); url {
		return nil, unknownKind(name)
	}
	abs, err := filepath.Abs(where)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
		return nil, &app.Error{Code: app.ENotFound, Reason: "no_database", Message: "No database at " + where + ".",
			Hint: "Set the server's data directory with --data, or its database with DATABASE_URL."}
	} else if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(abs, "_pragma=query_only(1)"))
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", where, err)
	}
	return newReads(db, sqliteDialect{}, sql.LevelDefault), nil
}

func unknownKind(name string) error {
	return &app.Error{Code: app.EInvalid, Field: "DATABASE_URL", Message: fmt.Sprintf("Unsupported database kind %q.", name),
		Hint: "Use a postgres:// URL, or leave it out for SQLite in the data directory."}
}

func isPostgres(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

func isSQLite(r *Reads) bool {
	_, yes := r.words.(sqliteDialect)
	return yes
}

func inspect(ctx context.Context, r *Reads) (f Inspection, err error) {
	f.Newest = newest()
	f.Kind = "PostgreSQL"
	version, tables, size := `SHOW server_version`, `SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ?`, `SELECT pg_database_size(current_database())`
	if isSQLite(r) {
		f.Kind = "SQLite"
		version, tables, size = `SELECT sqlite_version()`, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?`,
			`SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	if err := r.QueryRowContext(ctx, version).Scan(&f.Version); err != nil {
		return f, Wrapped(err)
	}
	f.Version, _, _ = strings.Cut(f.Version, " ")
	if err := r.QueryRowContext(ctx, size).Scan(&f.Size); err != nil {
		return f, Wrapped(err)
	}
	if !isSQLite(r) {
		if f.Skew, err = postgresSkew(ctx, r); err != nil {
			return f, err
		}
	}
	var n int
	if err := r.QueryRowContext(ctx, tables, "goose_db_version").Scan(&n); err != nil || n == 0 {
		f.Pending = Migrations()
		return f, Wrapped(err)
	}
	f.Made = true
	applied := map[int64]bool{}
	if err := Each(ctx, r, func(row Scanner) error {
		var id int64
		err := row.Scan(&id)
		applied[id] = true
		f.Migration = max(f.Migration, id)
		return err
	}, `SELECT version_id FROM goose_db_version WHERE is_applied`); err != nil {
		return f, err
	}
	for _, m := range Migrations() {
		if !applied[m.Number] {
			f.Pending = append(f.Pending, m)
		}
	}
	if f.Migration == 0 {
		return f, nil
	}
	said := map[string]string{}
	if err := Each(ctx, r, func(row Scanner) error {
		var name, value string
		err := row.Scan(&name, &value)
		said[name] = value
		return err
	}, `SELECT name, value FROM settings WHERE name IN ('installation', ?, ?)`, needsRow, restoringRow); err != nil {
		return f, err
	}
	f.Installation = said["installation"]
	f.Needs, _ = strconv.ParseInt(said[needsRow], 10, 64)
	_, f.Restoring = said[restoringRow]
	return f, nil
}

// check refuses a database that this program must not work with.
func (f Inspection) check() error {
	switch {
	case f.Restoring:
		return &app.Error{Code: app.EConflict, Reason: "restoring", Field: "DATABASE_URL", Message: "A restore into this database was interrupted.",
			Hint: "Run `muster restore` again with the same file; the database can't be used until then."}
	case f.Needs > f.Newest:
		return &app.Error{Code: app.EConflict, Reason: "too_new", Field: "DATABASE_URL",
			Message: fmt.Sprintf("The database was upgraded by a newer Muster (migration %d; this version knows %d).", f.Needs, f.Newest),
			Hint:    "Start the newer version, or restore a backup from before the upgrade; see docs/upgrades.md."}
	}
	return nil
}

// TooNew tells that migrations were applied that this program does not know. It may work with them unless Needs says otherwise.
func (f Inspection) TooNew() bool { return f.Migration > f.Newest }

// Check is nil where a server of this program may work with the database.
func (f Inspection) Check() error { return f.check() }

// MigrateTo brings a database's tables up to date, or, where only is greater than zero, up to that migration; what is newer already stays. A file is
// made when it is absent.
// It returns what was done, in order. Servers of the version before continue working meanwhile and after, unless a migration says otherwise.
func MigrateTo(ctx context.Context, where string, only int64) (done []Migration, err error) {
	before, err := Inspect(ctx, where)
	if err != nil && app.AsError(err).Reason != "no_database" {
		return nil, err
	}
	if err == nil {
		if err := before.check(); err != nil {
			return nil, err
		}
	} else {
		before.Pending = Migrations()
	}
	if err := runMigrations(ctx, where, only); err != nil {
		return nil, err
	}
	for _, m := range before.Pending {
		if only == 0 || m.Number <= only {
			done = append(done, m)
		}
	}
	return done, nil
}

// runMigrations makes the tables as they are after a migration; 0: after the last.
func runMigrations(ctx context.Context, where string, only int64) error {
	if isPostgres(where) {
		return changePostgres(ctx, where, only)
	}
	abs, err := filepath.Abs(where)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(abs, "_txlock=immediate", "_pragma=synchronous(FULL)"))
	if err != nil {
		return fmt.Errorf("store: %s: %w", where, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, goose.DialectSQLite3, db, migrations.FS, only); err != nil {
		return errors.Join(fmt.Errorf("store: %s: %w", where, err), db.Close())
	}
	return db.Close()
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"muster/app"
	"muster/migrations"
)

// openSQLite opens or makes a file.
func openSQLite(ctx context.Context, file string) (session, *Reads, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w", err)
	}
	writes, err := openToWrite(ctx, abs)
	if err != nil {
		return nil, nil, fmt.Errorf("store: %s: %w", file, err)
	}
	conn, err := writes.Conn(ctx)
	if err != nil {
		_ = writes.Close()
		return nil, nil, fmt.Errorf("store: %s: %w", file, err)
	}
	reads, err := sqlite.NewConnector(dsn(abs, "_pragma=query_only(1)"))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("store: %s: %w", file, err), conn.Close(), writes.Close())
	}
	return &sqliteSession{db: writes, conn: conn, stmts: map[string]*sql.Stmt{}}, newReads(sql.OpenDB(preparing{reads}), sqliteDialect{}, sql.LevelDefault), nil
}

// Migrate makes an SQLite file, where there is none, and brings its tables up to date; nothing else is written to it. OpenWith does so, too.
func Migrate(ctx context.Context, file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	db, err := openToWrite(ctx, abs)
	if err != nil {
		return fmt.Errorf("store: %s: %w", file, err)
	}
	return db.Close()
}

// writeCache lets the writer keep 16 MB of pages: by default a batch of reports changes more than fit, and they're written and read twice.
const writeCache = "_pragma=cache_size(-16000)"

// openToWrite opens or makes a file, with its tables up to date.
func openToWrite(ctx context.Context, file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(file, "_txlock=immediate", "_pragma=synchronous(FULL)", writeCache))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	err = loadSchema(ctx, db)
	if err == nil {
		err = migrate(ctx, goose.DialectSQLite3, db, migrations.FS, 0)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// loadSchema makes an empty database as all migrations would, at once: one by one they take a second, since SQLite reads all tables
// again after each change. Databases with tables are left as they are.
func loadSchema(ctx context.Context, db *sql.DB) error {
	t, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	defer func() { _ = t.Rollback() }()
	var things int
	if err := t.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&things); err != nil || things > 0 {
		return err
	}
	if _, err := t.ExecContext(ctx, migrations.SQLite); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return t.Commit()
}

// dsn uses modernc's own option names: those of other SQLite drivers would be ignored silently.
func dsn(file string, options ...string) string {
	query := "_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)"
	for _, o := range options {
		query += "&" + o
	}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: query}).String()
}

// maxStmts is how many prepared statements are kept; all of ours fit.
const maxStmts = 500

// sqliteSession writes to a file. Only one server has it, so there is no one else to tell of a commit.
type sqliteSession struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

var _ session = (*sqliteSession)(nil)

// sqliteBatches have a savepoint for each write, which costs next to nothing.
var sqliteBatches = batches{most: batchLimit}

func (s *sqliteSession) again(error) bool   { return false }
func (s *sqliteSession) flush() error       { return nil }
func (s *sqliteSession) begin() error       { return s.later(`BEGIN IMMEDIATE`, nil) }
func (s *sqliteSession) commit(*note) error { return s.later(`COMMIT`, nil) }
func (s *sqliteSession) rollback()          { _ = s.later(`ROLLBACK`, nil) }

func (s *sqliteSession) close() error {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	return errors.Join(s.conn.Close(), s.db.Close())
}

func (s *sqliteSession) stmt(query string) (*sql.Stmt, error) {
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	if len(s.stmts) >= maxStmts {
		for q, st := range s.stmts {
			_ = st.Close()
			delete(s.stmts, q)
		}
	}
	st, err := s.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

func (s *sqliteSession) later(query string, args []any) error {
	_, err := s.count(query, args)
	return err
}

func (s *sqliteSession) count(query string, args []any) (int64, error) {
	st, err := s.stmt(query) //nolint:sqlclosecheck // the session keeps it
	if err != nil {
		return 0, err
	}
	r, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (s *sqliteSession) row(query string, args []any) Scanner {
	st, err := s.stmt(query) //nolint:sqlclosecheck // the session keeps it
	if err != nil {
		return failed{err}
	}
	return st.QueryRowContext(context.Background(), args...)
}

func (s *sqliteSession) each(f func(Scanner) error, query string, args []any) error {
	st, err := s.stmt(query) //nolint:sqlclosecheck // the session keeps it
	if err != nil {
		return Wrapped(err)
	}
	rows, err := st.QueryContext(context.Background(), args...)
	return eachRow(rows, err, f)
}

// sqliteForNow reports whether an error of SQLite passes.
func sqliteForNow(err error) bool {
	var from *sqlite.Error
	if !errors.As(err, &from) {
		return false
	}
	switch from.Code() & 0xff { // the rest says more precisely what
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

// forNow tells the troubles that pass, such as a disk that is full, from those that asking again cannot help.
func forNow(err error) error {
	var e *app.Error
	switch {
	case err == nil || errors.As(err, &e):
		return err
	case errors.Is(err, errUnknown):
		return &app.Error{Code: app.ETimeout, Reason: "database", Message: "The connection to the database was lost before it confirmed the write", Err: err}
	case sqliteForNow(err):
		return &app.Error{Code: app.ETransient, Reason: "database", Message: "The database isn't writable at the moment", Err: err}
	}
	return postgresForNow(err)
}

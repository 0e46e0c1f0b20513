//go:build !small

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"muster/app"
	"muster/migrations"
)

// LeftOut are the schemes that this build does not have.
var LeftOut []string

// oldestPostgres is the oldest major version that has all that we ask for.
const oldestPostgres = 13

// Locks that all servers on a database share. The numbers mean nothing.
const (
	writeLock   = 0x6d757374_00000001
	migrateLock = 0x6d757374_00000002
)

const dialTime = 5 * time.Second

// postgresConfig reads the address of a database. Its errors never show it: it may hold a password.
func postgresConfig(where string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(where)
	if err != nil {
		return nil, &app.Error{Code: app.EInvalid, Field: "DATABASE_URL", Message: "DATABASE_URL isn't a valid PostgreSQL URL.",
			Hint: "Use a URL such as postgres://user:password@host:5432/database?sslmode=verify-full.\n" +
				"In the password, write / as %2F, @ as %40, # as %23, ? as %3F and % as %25."}
	}
	// What a lost server holds is given back soon, and what a lost database does not answer is given up soon.
	maps.Copy(c.RuntimeParams, map[string]string{
		"application_name": "muster", "idle_in_transaction_session_timeout": "5000", "lock_timeout": "20000", "statement_timeout": "30000",
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
		"default_transaction_isolation": "read committed", "client_encoding": "UTF8", "synchronous_commit": "on",
	})
	c.ConnectTimeout = dialTime
	c.DialFunc = (&net.Dialer{Timeout: dialTime,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}).DialContext
	return c, nil
}

func withParams(c *pgx.ConnConfig, params map[string]string) *pgx.ConnConfig {
	c = c.Copy()
	maps.Copy(c.RuntimeParams, params)
	return c
}

// openPostgres connects, checks that the database can serve, and brings its tables up to date. The caller joins the other servers.
func openPostgres(ctx context.Context, where string) (_ session, join func(hear func(words []string)) peers, _ *Reads, err error) {
	config, err := checkedPostgres(ctx, where)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := migratePostgres(ctx, config, 0); err != nil {
		return nil, nil, nil, openError(config, err)
	}
	s := newPostgresSession(withParams(config, byKey))
	if err := s.greet(); err != nil {
		_ = s.close()
		return nil, nil, nil, openError(config, err)
	}
	join = func(hear func(words []string)) peers { return newListener(s.config, s.id, hear) }
	db := stdlib.OpenDB(*withParams(config, map[string]string{"default_transaction_read_only": "on"}))
	return s, join, newReads(db, s.words, sql.LevelRepeatableRead), nil
}

// readPostgres opens a database that can serve, for reading only.
func readPostgres(ctx context.Context, where string, params map[string]string) (*Reads, error) {
	config, err := checkedPostgres(ctx, where)
	if err != nil {
		return nil, err
	}
	config = withParams(config, map[string]string{"default_transaction_read_only": "on"})
	return newReads(stdlib.OpenDB(*withParams(config, params)), &postgresDialect{}, sql.LevelRepeatableRead), nil
}

// changePostgres makes the tables as they are after a migration; 0: after the last.
func changePostgres(ctx context.Context, where string, only int64) error {
	config, err := checkedPostgres(ctx, where)
	if err != nil {
		return err
	}
	if err := migratePostgres(ctx, config, only); err != nil {
		return openError(config, err)
	}
	return nil
}

func checkedPostgres(ctx context.Context, where string) (*pgx.ConnConfig, error) {
	config, err := postgresConfig(where)
	if err != nil {
		return nil, err
	}
	return config, checkPostgres(ctx, config)
}

// byKey keeps the writer's statements, all of which look rows up by their keys, from plans that read whole tables: a table
// that has just grown from nothing looks small to PostgreSQL until it is next analysed. Each is planned once.
var byKey = map[string]string{"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	"plan_cache_mode": "force_generic_plan", "jit": "off"}

// checkPostgres refuses a database that cannot serve, and says why.
func checkPostgres(ctx context.Context, config *pgx.ConnConfig) error {
	ctx, cancel := context.WithTimeout(ctx, 2*dialTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return openError(config, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var version, encoding string
	var standby bool
	if err := conn.QueryRow(ctx, `SELECT current_setting('server_version_num'), current_setting('server_encoding'), pg_is_in_recovery()`).
		Scan(&version, &encoding, &standby); err != nil {
		return openError(config, err)
	}
	n, err := strconv.Atoi(version)
	switch {
	case err != nil || n/10000 < oldestPostgres:
		return tooOld(config)
	case encoding != "UTF8":
		return &app.Error{Code: app.EInvalid, Field: "DATABASE_URL", Message: fmt.Sprintf("Database %q uses the encoding %s instead of UTF8.", config.Database, encoding),
			Hint: "Create one with: createdb --encoding=UTF8 --template=template0 " + config.Database}
	case standby:
		return &app.Error{Code: app.EConflict, Field: "DATABASE_URL", Message: place(config) + " is a read-only standby.",
			Hint: "Use the primary; with several hosts, add target_session_attrs=read-write to DATABASE_URL."}
	}
	return nil
}

// migratePostgres lets one server at a time change the tables.
func migratePostgres(ctx context.Context, config *pgx.ConnConfig, only int64) error {
	db := stdlib.OpenDB(*withParams(config, map[string]string{"lock_timeout": "60000", "statement_timeout": "0"}))
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return err
	}
	err = migrate(ctx, goose.DialectPostgres, db, postgresMigrations{migrations.FS}, only)
	_, unlock := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(migrateLock))
	return errors.Join(err, unlock)
}

// place names the database for people.
func place(c *pgx.ConnConfig) string {
	if strings.HasPrefix(c.Host, "/") {
		return "PostgreSQL at " + c.Host
	}
	return "PostgreSQL at " + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

func tooOld(c *pgx.ConnConfig) error {
	return &app.Error{Code: app.EInvalid, Reason: "old_database", Field: "DATABASE_URL",
		Message: fmt.Sprintf("%s is too old.", place(c)), Hint: fmt.Sprintf("Muster needs PostgreSQL %d or newer.", oldestPostgres)}
}

// openError says why a database cannot be used.
func openError(c *pgx.ConnConfig, err error) error {
	var known *app.Error
	if errors.As(err, &known) {
		return err
	}
	e := &app.Error{Code: app.ETransient, Reason: "database", Field: "DATABASE_URL", Message: place(c) + " isn't responding", Err: err}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return e
	}
	e.Err = nil
	switch pg.Code {
	case "28P01", "28000":
		e.Code, e.Message = app.ECredentials, fmt.Sprintf("%s rejected user %q: %s.", place(c), c.User, pg.Message)
		e.Hint = "Check the user and password in DATABASE_URL, and pg_hba.conf."
	case "3D000":
		e.Code, e.Message = app.ENotFound, fmt.Sprintf("%s has no database %q.", place(c), c.Database)
		e.Hint = "Create it with: createdb --encoding=UTF8 " + c.Database
	case "42501":
		e.Code, e.Message = app.EForbidden, fmt.Sprintf("User %q isn't allowed to create tables in database %q: %s.", c.User, c.Database, pg.Message)
		e.Hint = fmt.Sprintf("Make that user the database's owner: ALTER DATABASE %q OWNER TO %q", c.Database, c.User)
	case "42704": // it does not know a setting that we ask for
		return tooOld(c)
	default:
		e.Message = fmt.Sprintf("%s is unavailable at the moment: %s (%s).", place(c), pg.Message, pg.Code)
		if !postgresPasses(pg.Code) {
			e.Code, e.Err = app.EInternal, err
		}
	}
	return e
}

// postgresPasses reports whether what a code of PostgreSQL says may be otherwise soon.
func postgresPasses(code string) bool {
	switch code[:min(2, len(code))] {
	case "08", "40", "53", "57", "58": // connection, conflict with others, no room, asked to stop, trouble of the host
		return true
	}
	return code == "25006" || code == "25P03" || code == "55P03" // read-only, idle for too long, a lock not had in time
}

// postgresForNow tells the troubles of PostgreSQL that pass.
func postgresForNow(err error) error {
	var pg *pgconn.PgError
	var refused *pgconn.ConnectError
	var network net.Error
	var what string
	switch {
	case errors.As(err, &pg) && postgresPasses(pg.Code):
		what = "The database is unavailable at the moment"
	case pg != nil:
		return err
	case errors.As(err, &refused), errors.As(err, &network), connectionLost(err):
		what = "The database isn't responding at the moment"
	default:
		return err
	}
	return &app.Error{Code: app.ETransient, Reason: "database", Message: what, Err: err}
}

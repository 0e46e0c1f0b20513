package db

import (
	"context"
	"strings"
	"time"
)

// Info are how a database is.
type Info struct {
	Kind      string // "SQLite" or "PostgreSQL"
	Version   string
	Migration int64         // the last that was applied
	Skew      time.Duration // how far this process's clock is ahead of the database's, to about a network round trip
	Leads     bool          // this server leads
}

// Info asks the database how it is.
func (s *DB) Info(ctx context.Context) (f Info, err error) {
	f.Leads, f.Kind = s.Leads(), "SQLite"
	version := `SELECT sqlite_version()`
	if s.peers != nil {
		f.Kind, version = "PostgreSQL", `SHOW server_version`
	}
	if err := s.Row(ctx, version).Scan(&f.Version); err != nil {
		return f, Wrapped(err)
	}
	f.Version, _, _ = strings.Cut(f.Version, " ")
	if err := s.Row(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&f.Migration); err != nil {
		return f, Wrapped(err)
	}
	if s.peers != nil {
		f.Skew, err = postgresSkew(ctx, s.Reads)
	}
	return f, err
}

// postgresSkew tells how far our clock is ahead of the database's.
func postgresSkew(ctx context.Context, r Reader) (time.Duration, error) {
	var at int64
	begun := time.Now()
	if err := r.QueryRowContext(ctx, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&at); err != nil {
		return 0, Wrapped(err)
	}
	return begun.Add(time.Since(begun) / 2).Sub(FromMicros(at)).Round(time.Millisecond), nil
}

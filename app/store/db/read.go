package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Scanner is a row.
type Scanner interface{ Scan(dest ...any) error }

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

func eachRow(rows *sql.Rows, err error, f func(Scanner) error) error {
	if err != nil {
		return forNow(fmt.Errorf("store: %w", err))
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return forNow(fmt.Errorf("store: %w", err))
	}
	return nil
}

// Reader is the database, or one moment of it.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) Scanner
}

// maxReads is how many connections read at the same time.
const maxReads = 8

// Reads are the connections that only read, in the database's own words.
type Reads struct {
	db     *sql.DB
	words  dialect
	frozen sql.IsolationLevel // how one moment is kept
}

var _ Reader = (*Reads)(nil)

func newReads(db *sql.DB, words dialect, frozen sql.IsolationLevel) *Reads {
	db.SetMaxOpenConns(maxReads)
	db.SetMaxIdleConns(maxReads)
	return &Reads{db, words, frozen}
}

func (r *Reads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	noteRead(ctx, query)
	query, args = r.words.rewrite(query, args)
	return r.db.QueryContext(ctx, query, args...)
}

func (r *Reads) QueryRowContext(ctx context.Context, query string, args ...any) Scanner {
	noteRead(ctx, query)
	query, args = r.words.rewrite(query, args)
	return passing{r.db.QueryRowContext(ctx, query, args...)}
}

// Moment begins to read the database as it is now. Roll it back.
func (r *Reads) moment(ctx context.Context) (*Moment, error) {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: r.frozen})
	if err != nil {
		return nil, forNow(fmt.Errorf("store: %w", err))
	}
	return &Moment{tx, r.words}, nil
}

// Moment is the database as it was at one moment.
type Moment struct {
	*sql.Tx
	words dialect
}

var _ Reader = (*Moment)(nil)

func (m *Moment) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	noteRead(ctx, query)
	query, args = m.words.rewrite(query, args)
	return m.Tx.QueryContext(ctx, query, args...)
}

func (m *Moment) QueryRowContext(ctx context.Context, query string, args ...any) Scanner {
	noteRead(ctx, query)
	query, args = m.words.rewrite(query, args)
	return passing{m.Tx.QueryRowContext(ctx, query, args...)}
}

// passing is a row whose troubles say whether they pass.
type passing struct{ row Scanner }

func (p passing) Scan(dest ...any) error { return forNow(p.row.Scan(dest...)) }

// Each calls f for every row of a read.
func Each(ctx context.Context, from Reader, f func(Scanner) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	return eachRow(rows, err, counted(ctx, f))
}

// Each calls f for every row of a read.
func (s *DB) Each(ctx context.Context, f func(Scanner) error, query string, args ...any) error {
	return Each(ctx, s.Reads, f, query, args...)
}

// Row returns the one row of a read.
func (s *DB) Row(ctx context.Context, query string, args ...any) Scanner {
	return s.Reads.QueryRowContext(ctx, query, args...)
}

// Moment begins to read the database as it is now. Roll it back.
func (s *DB) Moment(ctx context.Context) (*Moment, error) { return s.Reads.moment(ctx) }

// IsNoRows tells that a row that was asked for is not there.
func IsNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// scanner is a row.
type scanner interface{ Scan(dest ...any) error }

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

func eachRow(rows *sql.Rows, err error, f func(scanner) error) error {
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

// reader is the database, or one moment of it.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) scanner
}

// mostReads is how many connections read at the same time.
const mostReads = 8

// reads are the connections that only read, in the database's own words.
type reads struct {
	db     *sql.DB
	words  dialect
	frozen sql.IsolationLevel // how one moment is kept
}

var _ reader = (*reads)(nil)

func newReads(db *sql.DB, words dialect, frozen sql.IsolationLevel) *reads {
	db.SetMaxOpenConns(mostReads)
	db.SetMaxIdleConns(mostReads)
	return &reads{db, words, frozen}
}

// QueryContext implements reader.
func (r *reads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	noteRead(ctx)
	query, args = r.words.say(query, args)
	return r.db.QueryContext(ctx, query, args...)
}

// QueryRowContext implements reader.
func (r *reads) QueryRowContext(ctx context.Context, query string, args ...any) scanner {
	noteRead(ctx)
	query, args = r.words.say(query, args)
	return passing{r.db.QueryRowContext(ctx, query, args...)}
}

// moment begins to read the database as it is now. Roll it back.
func (r *reads) moment(ctx context.Context) (*moment, error) {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: r.frozen})
	if err != nil {
		return nil, forNow(fmt.Errorf("store: %w", err))
	}
	return &moment{tx, r.words}, nil
}

// moment is the database as it was at one moment.
type moment struct {
	*sql.Tx
	words dialect
}

var _ reader = (*moment)(nil)

// QueryContext implements reader.
func (m *moment) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	noteRead(ctx)
	query, args = m.words.say(query, args)
	return m.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext implements reader.
func (m *moment) QueryRowContext(ctx context.Context, query string, args ...any) scanner {
	noteRead(ctx)
	query, args = m.words.say(query, args)
	return passing{m.Tx.QueryRowContext(ctx, query, args...)}
}

// passing is a row whose troubles say whether they pass.
type passing struct{ row scanner }

// Scan implements scanner.
func (p passing) Scan(dest ...any) error { return forNow(p.row.Scan(dest...)) }

// each calls f for every row of a read.
func each(ctx context.Context, from reader, f func(scanner) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	return eachRow(rows, err, counted(ctx, f))
}

func (s *DB) each(ctx context.Context, f func(scanner) error, query string, args ...any) error {
	return each(ctx, s.reads, f, query, args...)
}

// row gives the one row of a read.
func (s *DB) row(ctx context.Context, query string, args ...any) scanner {
	return s.reads.QueryRowContext(ctx, query, args...)
}

// moment begins to read the database as it is now. Roll it back.
func (s *DB) moment(ctx context.Context) (*moment, error) { return s.reads.moment(ctx) }

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

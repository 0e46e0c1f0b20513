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
		return fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// reader is the database, or one moment of it.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each calls f for every row of a read.
func each(ctx context.Context, from reader, f func(scanner) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	return eachRow(rows, err, f)
}

func (s *Store) each(ctx context.Context, f func(scanner) error, query string, args ...any) error {
	return each(ctx, s.reads, f, query, args...)
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

//go:build !small

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// emptyPostgres is nil where there is no installation in a database.
func emptyPostgres(ctx context.Context, where string) error {
	config, err := postgresConfig(where)
	if err != nil {
		return err
	}
	found, err := Inspect(ctx, where)
	if err == nil && found.Installation != "" {
		err = notEmpty(place(config))
	}
	return err
}

// copyRows is how many rows are sent to PostgreSQL at once, and copyBytes about how many bytes.
const (
	copyRows  = 5000
	copyBytes = 8 << 20
)

// postgresPutter sends rows of one table after the other by COPY.
type postgresPutter struct {
	ctx   context.Context
	conn  *sql.Conn // that the transaction is on
	table Table
	rows  [][]any
	bytes int
}

func (p *postgresPutter) put(t Table, row []any) error {
	if t.Name != p.table.Name || len(p.rows) >= copyRows || p.bytes > copyBytes {
		if err := p.flush(); err != nil {
			return err
		}
		p.table = t
	}
	kept := slices.Clone(row)
	for i, v := range kept {
		switch x := v.(type) {
		case string:
			kept[i] = text(x)
			p.bytes += len(x)
		case []byte:
			kept[i] = slices.Clone(x)
			p.bytes += len(x)
		}
	}
	p.bytes += 16 * len(kept)
	p.rows = append(p.rows, kept)
	return nil
}

func (p *postgresPutter) flush() error {
	if len(p.rows) == 0 {
		return nil
	}
	var columns []string
	for _, c := range p.table.Columns {
		columns = append(columns, c.Name)
	}
	err := p.conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().CopyFrom(p.ctx, pgx.Identifier{p.table.Name}, columns, pgx.CopyFromRows(p.rows))
		return err
	})
	if p.rows, p.bytes = p.rows[:0], 0; err != nil {
		return fmt.Errorf("store: %s: %w", p.table.Name, err)
	}
	return nil
}

func restorePostgres(ctx context.Context, where string, r Restored) (out Outcome, err error) {
	config, err := postgresConfig(where)
	if err != nil {
		return out, err
	}
	found, err := Inspect(ctx, where)
	if err != nil {
		return out, err
	}
	if found.Installation != "" || found.Migration > r.Migration {
		return out, notEmpty(place(config))
	}
	if err := runMigrations(ctx, where, r.Migration); err != nil {
		return out, err
	}
	db := stdlib.OpenDB(*withParams(config, map[string]string{"statement_timeout": "0", "idle_in_transaction_session_timeout": "0"}))
	defer func() { err = errors.Join(err, db.Close()) }()
	// From here on servers refuse the database until all is there.
	if _, err := db.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, restoringRow, strconv.FormatInt(Micros(r.Now), 10)); err != nil {
		return out, openError(config, err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return out, openError(config, err)
	}
	defer conn.Close()
	if out, err = load(ctx, conn, &postgresDialect{}, r, func(*sql.Tx) putter { return &postgresPutter{ctx: ctx, conn: conn} }); err != nil {
		return out, err
	}
	out.Migrated, err = MigrateTo(ctx, where, 0)
	return out, err
}

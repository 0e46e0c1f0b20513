package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// Kind is what a column holds. Both databases have these four and no others.
type Kind string

// The kinds of columns.
const (
	KindText  Kind = "text"
	KindInt   Kind = "int"
	KindFloat Kind = "float"
	KindBytes Kind = "bytes"
)

// Column is one of a table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Table is one whose rows belong into a backup.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
}

// passingTables hold what is true only while servers run, or lets someone in who is signed in now. They are in no backup.
var passingTables = []string{
	"write_batches", "leader_leases", // of servers that run
	"provisioners", "provisioner_shares", "email_servers", // they register again
	"chat_links", "chat_event_ids", // connections of servers, and what a chat repeats within minutes
	"sessions", "device_codes", "chat_installs", "identity_links", "port_tickets", "email_changes", "address_emails", // sign-ins and links that work once
	"writers", "leases", "chat_once", "device_asks", // their names before migration 63, as older backups are restored
}

// Snapshot is all rows of a database as they were at one moment, while servers continue writing. Close it.
type Snapshot struct {
	Inspection
	Tables []Table // by name

	from   *Reads
	moment *Moment
}

// OpenSnapshot begins to read a database: the file at where, or the one behind a postgres:// URL. EConflict where its tables are not as this program makes
// them: it is brought up to date first, or read by the program that did so.
func OpenSnapshot(ctx context.Context, where string) (_ *Snapshot, err error) {
	// It may take long, and no one waits for it.
	from, err := openToRead(ctx, where, map[string]string{"statement_timeout": "0", "idle_in_transaction_session_timeout": "0"})
	if err != nil {
		return nil, err
	}
	s := &Snapshot{from: from}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	if s.Inspection, err = inspect(ctx, from); err != nil {
		return nil, err
	}
	switch {
	case !s.Made || s.Installation == "":
		return nil, &app.Error{Code: app.ENotFound, Reason: "no_database", Message: "The database contains no Muster installation.", Hint: "Start a server with it first."}
	case s.check() != nil:
		return nil, s.check()
	case s.TooNew():
		return nil, &app.Error{Code: app.EConflict, Reason: "too_new", Message: fmt.Sprintf("The database was upgraded by a newer Muster (migration %d; this version knows %d).", s.Migration, s.Newest),
			Hint: "Back up with the newer version."}
	}
	if s.moment, err = from.moment(ctx); err != nil {
		return nil, err
	}
	s.Tables, err = tablesOf(ctx, s.moment, isSQLite(from))
	return s, err
}

// Close ends it.
func (s *Snapshot) Close() error {
	if s.moment != nil {
		_ = s.moment.Rollback() // nothing was written
	}
	return s.from.db.Close()
}

// CheckKey returns nil if a key-encryption key opens the newest data key, or if there is none yet. Its errors are those of OpenWith.
func (s *Snapshot) CheckKey(ctx context.Context, keeper KeyKeeper) error {
	return opensNewest(ctx, s.moment, keeper)
}

// tablesOf returns the tables that belong into a backup, and their columns in the order in which they were made.
func tablesOf(ctx context.Context, r Reader, sqlite bool) ([]Table, error) {
	query := `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`
	if sqlite {
		query = `SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`
	}
	var all []Table
	err := Each(ctx, r, func(row Scanner) error {
		var table, column, typ string
		if err := row.Scan(&table, &column, &typ); err != nil {
			return err
		}
		if table == "goose_db_version" || slices.Contains(passingTables, table) {
			return nil
		}
		kind, err := kindOf(typ)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", table, column, err)
		}
		if len(all) == 0 || all[len(all)-1].Name != table {
			all = append(all, Table{Name: table})
		}
		t := &all[len(all)-1]
		t.Columns = append(t.Columns, Column{column, kind})
		return nil
	}, query)
	// The order of names is each database's own.
	slices.SortFunc(all, func(x, y Table) int { return strings.Compare(x.Name, y.Name) })
	return all, err
}

func kindOf(typ string) (Kind, error) {
	switch strings.ToLower(typ) {
	case "text":
		return KindText, nil
	case "bigint", "integer":
		return KindInt, nil
	case "double precision":
		return KindFloat, nil
	case "blob", "bytea":
		return KindBytes, nil
	}
	return "", fmt.Errorf("unknown column type %q", typ)
}

// Rows calls f for every row of a table: string, int64, float64 or []byte, as its columns say, or nil. The values are f's only until it returns.
func (s *Snapshot) Rows(ctx context.Context, t Table, f func(row []any) error) error {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, c.Name)
	}
	rows, err := s.moment.Tx.QueryContext(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM `+t.Name)
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i, c := range t.Columns {
		places[i] = &valueOf{kind: c.Kind, to: &values[i]}
	}
	return eachRow(rows, err, func(row Scanner) error {
		if err := row.Scan(places...); err != nil {
			return err
		}
		return f(values)
	})
}

// valueOf takes a value as what its column was declared to hold: SQLite keeps a number in a column of numbers that may have a fraction as it came.
type valueOf struct {
	kind Kind
	to   *any
}

var _ sql.Scanner = (*valueOf)(nil)

func (p *valueOf) Scan(v any) error {
	switch x := v.(type) {
	case nil:
	case int64:
		if p.kind == KindFloat {
			v = float64(x)
		} else if p.kind == KindText {
			v = fmt.Sprint(x)
		}
	case float64:
		if p.kind == KindInt {
			v = int64(x)
		}
	case []byte:
		if p.kind == KindText {
			v = string(x)
		}
	case string:
		if p.kind == KindBytes {
			v = []byte(x)
		}
	case time.Time:
		return fmt.Errorf("a time in a column of %s", p.kind)
	}
	*p.to = v
	return nil
}

// Blob is a content that rows speak of, and that exists elsewhere.
type Blob struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Blobs returns the existing contents of resources, by name.
func (s *Snapshot) Blobs(ctx context.Context) (all []Blob, err error) {
	err = Each(ctx, s.moment, func(row Scanner) error {
		var b Blob
		err := row.Scan(&b.Name, &b.Size)
		all = append(all, b)
		return err
	}, `SELECT name, size FROM resource_blobs WHERE state = 'here' ORDER BY name`)
	return all, err
}

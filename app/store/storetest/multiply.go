package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// apart is how far the numbers of one copy are from those of the next.
const apart = 100_000

// perPerson is by how many people each owner of a cluster is replaced in turn.
const perPerson = 20

// followers are the tables whose rows are copied, and what in them is another in the k-th copy; what columns of these names mean
// everywhere is in usual. Rows of s are the ones that were there.
var followers = []struct {
	table string
	most  int // copies; 0: all
	other map[string]string
}{
	{"users", perPerson - 1, map[string]string{"name": `s.name || '-' || n.k`}},
	{"memberships", perPerson - 1, map[string]string{"user_name": `s.user_name || '-' || n.k`}},
	{"clusters", 0, map[string]string{"id": suffixed("id"), "name": suffixed("name"), "number": `s.number + n.k * 1000`}},
	{"nodes", 0, map[string]string{"hostname": suffixed("hostname"), "machine_id": suffixed("machine_id")}},
	{"intents", 0, map[string]string{"id": suffixed("id"), "machine_id": suffixed("machine_id")}},
	{"operations", 0, numbered("id")},
	{"steps", 0, nil},
	{"step_dependencies", 0, nil},
	{"operation_changes", 0, nil},
	{"events", 0, numbered("seq")},
	{"logs", 0, numbered("seq")},
	{"resources", 0, map[string]string{"intent": suffixed("intent"), "id": suffixed("id")}},
	{"reservations", 0, numbered("id")},
	{"reservation_groups", 0, numbered("reservation")},
	{"requests", 0, map[string]string{"id": shifted("id"), "name": suffixed("name")}},
	{"reviews", 0, nil},
	{"manual_steps", 0, map[string]string{"id": shifted("id"), "name": suffixed("name")}},
	{"notifications", 0, numbered("id")},
	{"cluster_health", 0, nil},
	{"cluster_schedules", 0, nil},
	{"cluster_idle", 0, nil},
	{"idle_savings", 0, nil},
	{"cluster_scaling", 0, nil},
	{"scaling_history", 0, nil},
	{"backfills", 0, nil},
	{"node_reports", 0, nil},
	{"webhook_deliveries", 100, map[string]string{"id": shifted("id"), "notice": shifted("notice"), "request": "s.request"}},
	{"audit", 300, map[string]string{"number": `s.number + n.k * (SELECT max(number) FROM audit a WHERE a.tenant = s.tenant)`}},
}

func suffixed(column string) string {
	return fmt.Sprintf(`CASE WHEN s.%[1]s = '' THEN '' ELSE s.%[1]s || '-' || n.k END`, column)
}

func shifted(column string) string {
	return fmt.Sprintf(`CASE WHEN s.%[1]s = 0 THEN 0 ELSE s.%[1]s + n.k * %[2]d END`, column, apart)
}

func numbered(column string) map[string]string { return map[string]string{column: shifted(column)} }

// person takes another owner in each copy, those in the last one who were there before.
func person(column string) string {
	return fmt.Sprintf(`CASE WHEN s.%[1]s = '' OR n.k %% %[2]d = 0 THEN s.%[1]s ELSE s.%[1]s || '-' || (n.k %% %[2]d) END`, column, perPerson)
}

var usual = map[string]string{
	"cluster": suffixed("cluster"), "for_cluster": suffixed("for_cluster"),
	"operation": shifted("operation"), "rolls_back": shifted("rolls_back"), "followed_by": shifted("followed_by"), "request": shifted("request"),
	"owner": person("owner"), "requester": person("requester"),
}

// sealed are the columns that bind what they encrypt to their row. Unencrypted, in the columns from before migration 54, it can be copied: the
// store encrypts it for its own row when it is opened.
var sealed = []struct{ table, key, column, clear, place string }{
	{"clusters", "id", "encrypted_definition", "definition", "cluster_definitions/"},
	{"operation_changes", "operation", "encrypted_definition", "definition", "change_definitions/"},
	{"requests", "id", "encrypted_spec", "spec", "request_asked/"},
	{"requests", "id", "encrypted_terms", "terms", "request_terms/"},
	{"requests", "id", "encrypted_payload", "payload", "request_kept/"},
}

// Unseal decrypts what was sealed for a place, as db.Keyring does.
type Unseal func(sealed []byte, place string) ([]byte, error)

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// Multiply copies all clusters of a tenant so many times, each with its nodes, operations, steps, events, logs, requests, money and
// questions, and assigns the copies to owners of their own. Where is what the store was opened with. Close the store afterwards and open it again:
// what it keeps in memory doesn't know of the copies, and opening it encrypts the copied configuration for its own rows. Without unseal that isn't
// copied. Secrets of copies can't be read, and the audit's chain is broken.
func Multiply(ctx context.Context, where, tenant string, times int, unseal Unseal) error {
	if !plainName.MatchString(tenant) {
		return errors.New("multiply: not a plain name")
	}
	driver, postgres := "sqlite", strings.HasPrefix(where, "postgres")
	source := "file:" + where + "?_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)&_txlock=immediate"
	if postgres {
		driver, source = "pgx", where
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return fmt.Errorf("multiply: %w", err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("multiply: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if unseal != nil {
		if err := inClear(ctx, tx, postgres, unseal); err != nil {
			return err
		}
	}
	for _, f := range followers {
		columns, err := columnsOf(ctx, tx, f.table)
		if err != nil {
			return fmt.Errorf("multiply %s: %w", f.table, err)
		}
		values := make([]string, len(columns))
		for i, c := range columns {
			switch {
			case f.other[c] != "":
				values[i] = f.other[c]
			case usual[c] != "":
				values[i] = usual[c]
			default:
				values[i] = "s." + c
			}
		}
		most := times
		if f.most > 0 {
			most = min(most, f.most)
		}
		which := ""
		if slices.Contains(columns, "tenant") {
			which = fmt.Sprintf(" WHERE s.tenant = '%s'", tenant)
		}
		statement := fmt.Sprintf(`WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < %d)
			INSERT INTO %s (%s) SELECT %s FROM %s s CROSS JOIN n%s`, most, f.table, strings.Join(columns, ", "), strings.Join(values, ", "), f.table, which)
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("multiply %s: %w", f.table, err)
		}
		if postgres {
			for _, c := range []string{"id", "seq"} {
				if v := f.other[c]; v == shifted(c) {
					if _, err := tx.ExecContext(ctx, fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%s', '%s'), (SELECT max(%s) FROM %s))`, f.table, c, c,
						f.table)); err != nil {
						return fmt.Errorf("multiply %s: %w", f.table, err)
					}
				}
			}
		}
	}
	for _, statement := range []string{
		`UPDATE audit_heads SET number = (SELECT max(number) FROM audit WHERE audit.tenant = audit_heads.tenant)`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("multiply: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("multiply: %w", err)
	}
	if postgres {
		_, err = db.ExecContext(ctx, `ANALYZE`)
	}
	return err
}

// inClear decrypts what the copies need. It writes to the columns from before migration 54.
func inClear(ctx context.Context, tx *sql.Tx, postgres bool, unseal Unseal) error {
	update := `UPDATE %s SET %s = ? WHERE CAST(%s AS TEXT) = ?`
	if postgres {
		update = `UPDATE %s SET %s = $1 WHERE CAST(%s AS TEXT) = $2`
	}
	for _, c := range sealed {
		clear := map[string]string{}
		rows, err := tx.QueryContext(ctx, fmt.Sprintf(`SELECT CAST(%s AS TEXT), %s FROM %s`, c.key, c.column, c.table))
		if err != nil {
			return fmt.Errorf("multiply %s: %w", c.table, err)
		}
		for rows.Next() {
			var key string
			var value []byte
			if err = rows.Scan(&key, &value); err == nil {
				value, err = unseal(value, c.place+key)
			}
			if err != nil {
				_ = rows.Close() //nolint:sqlclosecheck // the next statement of this loop needs the connection
				return fmt.Errorf("multiply %s: %w", c.table, err)
			}
			clear[key] = string(value)
		}
		if err := rows.Err(); err != nil {
			return fmt.Errorf("multiply %s: %w", c.table, err)
		}
		for key, value := range clear {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(update, c.table, c.clear, c.key), value, key); err != nil {
				return fmt.Errorf("multiply %s: %w", c.table, err)
			}
		}
	}
	return nil
}

func columnsOf(ctx context.Context, tx *sql.Tx, table string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

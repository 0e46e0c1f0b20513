package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
)

// newFile returns how to read a new file with the table t, which has the numbers from 1 to 3, and a database to write to it.
func newFile(t *testing.T) (preparing, *sql.DB) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "muster.db")
	writes, err := sql.Open("sqlite", dsn(file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = writes.Close() })
	if _, err := writes.Exec(`CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2), (3)`); err != nil {
		t.Fatal(err)
	}
	plain, err := sqlite.NewConnector(dsn(file, "_pragma=query_only(1)"))
	if err != nil {
		t.Fatal(err)
	}
	return preparing{plain}, writes
}

// reading returns a connection to a new file.
func reading(t *testing.T) (*preparedConn, *sql.DB) {
	t.Helper()
	from, writes := newFile(t)
	conn, err := from.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*preparedConn), writes
}

func query(t *testing.T, c *preparedConn, text string, args ...int64) driver.Rows {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), text, values(args))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

func values(args []int64) []driver.NamedValue {
	var list []driver.NamedValue
	for i, a := range args {
		list = append(list, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return list
}

func numbers(t *testing.T, rows driver.Rows) string {
	t.Helper()
	var text string
	row := make([]driver.Value, 1)
	for {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprint(row[0])
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestStatementsStayPrepared(t *testing.T) {
	t.Parallel()
	c, writes := reading(t)
	const above = `SELECT n FROM t WHERE n > ? ORDER BY n`
	if got := numbers(t, query(t, c, above, 1)); got != "23" {
		t.Errorf("the first use: %s", got)
	}
	kept := c.of[above]
	if got := numbers(t, query(t, c, above, 2)); got != "3" || c.of[above] != kept {
		t.Errorf("the second use: %s, prepared again: %v", got, c.of[above] != kept)
	}
	if _, err := writes.Exec(`INSERT INTO t VALUES (4); ALTER TABLE t ADD COLUMN m INTEGER`); err != nil {
		t.Fatal(err)
	}
	if got := numbers(t, query(t, c, above, 2)); got != "34" {
		t.Errorf("after a change of the table: %s", got)
	}
	if _, err := c.QueryContext(t.Context(), `SELECT nothing FROM t`, nil); err == nil || len(c.of) != 1 {
		t.Errorf("a query that can't be prepared: %v; %d are kept", err, len(c.of))
	}
	if _, err := c.QueryContext(t.Context(), above, nil); err == nil || c.of[above] != nil {
		t.Errorf("a query without its arguments: %v, kept: %v", err, c.of[above] != nil)
	}
	if got := numbers(t, query(t, c, above, 3)); got != "4" {
		t.Errorf("after an error: %s", got)
	}
}

func TestFailingRowsEndTheirStatement(t *testing.T) {
	t.Parallel()
	c, _ := reading(t)
	const overflow = `SELECT abs(CASE WHEN n = 2 THEN -9223372036854775808 ELSE n END) FROM t ORDER BY rowid` // integer overflow at the second row
	rows := query(t, c, overflow)
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		t.Fatal(err)
	}
	if err := rows.Next(row); err == nil {
		t.Error("the second row has no error")
	}
	_ = rows.Close()
	if st := c.of[overflow]; st != nil && st.reading {
		t.Error("the statement counts as being read")
	}
	if err := query(t, c, overflow).Close(); err != nil {
		t.Errorf("the next use: %v", err)
	}
}

// TestNestedReads asks in the same moment what it is reading the answer of.
func TestNestedReads(t *testing.T) {
	t.Parallel()
	c, _ := reading(t)
	const all = `SELECT n FROM t ORDER BY n`
	outer := query(t, c, all)
	if _, err := c.QueryContext(t.Context(), all, nil); !errors.Is(err, driver.ErrSkip) {
		t.Errorf("a statement whose rows are being read: %v", err)
	}
	if got := numbers(t, outer); got != "123" {
		t.Errorf("the outer rows: %s", got)
	}
	if got := numbers(t, query(t, c, all)); got != "123" {
		t.Errorf("afterwards: %s", got)
	}

	from, _ := newFile(t)
	reads := newReads(sql.OpenDB(from), sqliteDialect{}, sql.LevelDefault)
	t.Cleanup(func() { _ = reads.db.Close() })
	m, err := reads.moment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Rollback() }()
	const three = `SELECT 1 UNION SELECT 2 UNION SELECT 3`
	var sum int
	err = Each(t.Context(), m, func(Scanner) error {
		return Each(t.Context(), m, func(row Scanner) error {
			var n int
			err := row.Scan(&n)
			sum += n
			return err
		}, three)
	}, three)
	if err != nil || sum != 18 {
		t.Errorf("sum %d, %v", sum, err)
	}
}

func TestOldestStatementMakesRoom(t *testing.T) {
	t.Parallel()
	c, _ := reading(t)
	const first, second = `SELECT n FROM t WHERE n = 1`, `SELECT n FROM t WHERE n = 2`
	held := query(t, c, first) // being read, so it stays
	numbers(t, query(t, c, second))
	for i := range maxPrepared {
		numbers(t, query(t, c, fmt.Sprintf(`SELECT n + %d FROM t`, i)))
	}
	if len(c.of) != maxPrepared || c.of[first] == nil || c.of[second] != nil {
		t.Errorf("%d are kept; the first: %v, the second: %v", len(c.of), c.of[first] != nil, c.of[second] != nil)
	}
	if got := numbers(t, held); got != "1" {
		t.Errorf("the held rows: %s", got)
	}
	if err := c.Close(); err != nil || len(c.of) != 0 {
		t.Errorf("%v, %d are kept by a closed connection", err, len(c.of))
	}
}

// TestCancelledReads cancels queries at various moments while others continue.
func TestCancelledReads(t *testing.T) {
	t.Parallel()
	from, _ := newFile(t)
	reads := newReads(sql.OpenDB(from), sqliteDialect{}, sql.LevelDefault)
	t.Cleanup(func() { _ = reads.db.Close() })
	const long = `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT count(*) FROM c`
	done := make(chan error, 16)
	for k := range cap(done) {
		go func() {
			for i := range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				if k%2 == 0 && i%3 == 0 {
					go cancel()
				}
				var got int
				err := reads.QueryRowContext(ctx, long, 2000+i).Scan(&got)
				cancel()
				if err == nil && got != 2000+i || err != nil && (k%2 == 1 || !errors.Is(err, context.Canceled)) {
					done <- fmt.Errorf("round %d: %d, %w", i, got, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

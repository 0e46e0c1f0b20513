//go:build !small

package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const (
	// answerTime is how long PostgreSQL may take for what is sent at once. It gives up by itself before.
	answerTime = 35 * time.Second
	maxLater   = 500
	// A message to the other servers has at most 8000 bytes.
	longestNote = 7000
	// What a server wrote down of its batches is of no use when it has been gone for so long.
	keepWriters = 24 * time.Hour
)

// postgresSession writes to PostgreSQL. All servers take the same lock at the beginning of every transaction, so writes
// of the whole installation come one after the other. That costs less than it seems, since a transaction carries
// what many callers wrote; and it buys that no decision can be made from rows that are about to change, that
// nothing deadlocks or has to be tried again, and that anyone who has read the feed up to a number has missed nothing before it.
//
// A server that dies lets go of the lock with its connection; one that hangs loses it after five seconds.
//
// What needs no answer is sent together with what does, so that a transaction takes few round trips.
type postgresSession struct {
	config *pgx.ConnConfig
	words  *postgresDialect
	conn   *pgx.Conn // nil until needed
	id     string    // of this run of the server
	batch  int64
	ahead  *pgx.Batch
	sent   bool // something of the transaction
}

var _ session = (*postgresSession)(nil)

func newPostgresSession(c *pgx.ConnConfig) *postgresSession {
	return &postgresSession{config: c, words: &postgresDialect{}, id: strings.ToLower(rand.Text()[:12]), ahead: &pgx.Batch{}}
}

// errUndone says that a transaction is known not to have happened.
var errUndone = errors.New("the connection to the database was lost before the commit")

func (s *postgresSession) again(err error) bool {
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, errUnknown):
		return false
	case s.conn == nil || s.conn.IsClosed() || errors.Is(err, errUndone):
		return true
	case errors.As(err, &pg):
		// 0A000: another server has changed the tables since the statement was prepared.
		return pg.Code[:2] == "40" || pg.Code[:2] == "08" || strings.HasPrefix(pg.Code, "57P") || pg.Code == "25P03" || pg.Code == "0A000"
	}
	return connectionLost(err)
}

// connectionLost tells an error of the connection itself.
func connectionLost(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network) ||
		pgconn.Timeout(err)
}

func (s *postgresSession) connect() error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		s.conn = nil
		return err
	}
	s.conn = conn
	return nil
}

// greet makes the first connection and clears away what servers of long ago have left.
func (s *postgresSession) greet() error {
	if err := s.connect(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	_, err := s.conn.Exec(ctx, `DELETE FROM write_batches WHERE at < $1`, Micros(time.Now().Add(-keepWriters)))
	return err
}

func (s *postgresSession) begin() error {
	s.ahead, s.sent = &pgx.Batch{}, false
	if err := s.connect(); err != nil {
		return err
	}
	s.batch++
	s.ahead.Queue(`BEGIN`)
	s.ahead.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(writeLock))
	s.ahead.Queue(`INSERT INTO write_batches (id, batch, at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, at = excluded.at`, s.id, s.batch, Micros(time.Now()))
	return nil
}

func (s *postgresSession) commit(n *note) error {
	if text := s.note(n); text != "" {
		s.ahead.Queue(`SELECT pg_notify($1, $2)`, channel, text)
	}
	s.ahead.Queue(`COMMIT`).Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return fmt.Errorf("store: the transaction was rolled back: %s", tag)
		}
		return nil
	})
	err := s.flush()
	if err == nil || !s.conn.IsClosed() {
		return err
	}
	return s.settle(err)
}

// settle finds out whether a transaction has happened whose commit was not answered.
func (s *postgresSession) settle(cause error) error {
	began := time.Now()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		done, err := s.committed()
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			return errors.Join(errUndone, cause)
		case time.Since(began) >= patience:
			return errors.Join(errUnknown, cause, err)
		}
		time.Sleep(pause)
	}
}

// committed waits for the old connection's transaction to end, by its lock, and looks.
func (s *postgresSession) committed() (bool, error) {
	if err := s.connect(); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	var last int64
	err := pgx.BeginFunc(ctx, s.conn, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(writeLock)); err != nil {
			return err
		}
		err := t.QueryRow(ctx, `SELECT batch FROM write_batches WHERE id = $1`, s.id).Scan(&last)
		if IsNoRows(err) {
			err = nil
		}
		return err
	})
	return last == s.batch, err
}

// note words what the other servers are to know, after this server's own id.
func (s *postgresSession) note(n *note) string {
	if len(n.Topics) == 0 && !n.Queued {
		return ""
	}
	var b strings.Builder
	b.WriteString(s.id)
	if n.Queued {
		b.WriteString(" " + noteQueued)
	}
	for topic := range n.Topics {
		c := topic.String()
		if b.Len()+len(c) > longestNote {
			return s.id + " " + noteQueued + " " + noteAll
		}
		b.WriteString(" " + noteTopic + c)
	}
	return b.String()
}

func (s *postgresSession) rollback() {
	s.ahead = &pgx.Batch{}
	if !s.sent || s.conn == nil || s.conn.IsClosed() {
		return
	}
	s.sent = false
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	if _, err := s.conn.Exec(ctx, `ROLLBACK`); err != nil {
		_ = s.conn.Close(ctx)
	}
}

func (s *postgresSession) close() error {
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	return s.conn.Close(ctx)
}

func (s *postgresSession) later(query string, args []any) error {
	s.queue(query, args)
	if s.ahead.Len() >= maxLater {
		return s.flush()
	}
	return nil
}

func (s *postgresSession) queue(query string, args []any) *pgx.QueuedQuery {
	query, args = s.words.rewrite(query, args)
	return s.ahead.Queue(query, args...)
}

func (s *postgresSession) flush() error {
	b := s.ahead
	if b.Len() == 0 {
		return nil
	}
	s.ahead, s.sent = &pgx.Batch{}, true
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	return s.conn.SendBatch(ctx, b).Close()
}

func (s *postgresSession) count(query string, args []any) (n int64, err error) {
	s.queue(query, args).Exec(func(tag pgconn.CommandTag) error {
		n = tag.RowsAffected()
		return nil
	})
	return n, s.flush()
}

func (s *postgresSession) row(query string, args []any) Scanner { return postgresRow{s, query, args} }

// postgresRow is asked for when it is scanned.
type postgresRow struct {
	s     *postgresSession
	query string
	args  []any
}

func (r postgresRow) Scan(dest ...any) error {
	none := false
	r.s.queue(r.query, r.args).Query(func(rows pgx.Rows) error {
		if !rows.Next() {
			none = rows.Err() == nil
			return rows.Err()
		}
		return scanRow{rows}.Scan(dest...)
	})
	if err := r.s.flush(); err != nil {
		return err
	}
	if none {
		return sql.ErrNoRows
	}
	return nil
}

func (s *postgresSession) each(f func(Scanner) error, query string, args []any) error {
	s.queue(query, args).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := f(scanRow{rows}); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return Wrapped(s.flush())
}

// scanRow takes BIGINT 0 and 1 for booleans, as database/sql does.
type scanRow struct{ rows pgx.Rows }

func (r scanRow) Scan(dest ...any) error {
	for i, d := range dest {
		if b, ok := d.(*bool); ok && r.rows.FieldDescriptions()[i].DataTypeOID != pgtype.BoolOID {
			dest[i] = &bigBool{b}
		}
	}
	return r.rows.Scan(dest...)
}

type bigBool struct{ to *bool }

func (b *bigBool) ScanInt64(v pgtype.Int8) error {
	*b.to = v.Int64 != 0
	return nil
}

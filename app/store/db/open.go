package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"muster/app"
)

// DB is an open database: its one writer, those who read, and what is reported after commits.
type DB struct {
	*Keyring
	Reads          *Reads
	writer         *writer
	peers          peers // the other servers; nil where there can be none
	pubsub         *pubsub
	committed      chan struct{}
	InstallationID string
}

// Open opens a database and starts the writer: the file at where, made when it is absent, or, where that is a postgres:// URL,
// the PostgreSQL database there. Its tables are brought up to date. EConflict where the database was made with another
// key, and the keeper's own errors; none shows a password. Close it.
func Open(ctx context.Context, where string, keeper KeyKeeper) (_ *DB, err error) {
	s := &DB{Keyring: newKeyring(keeper), pubsub: newPubSub(), committed: make(chan struct{}, 1)}
	var session session
	if err := mayOpen(ctx, where); err != nil {
		return nil, err
	}
	shared := sqliteBatches
	if isPostgres(where) {
		shared = postgresBatches
		var join func(hear func(words []string)) peers
		if session, join, s.Reads, err = openPostgres(ctx, where); err == nil {
			s.peers = join(s.hear)
		}
	} else if name, _, url := strings.Cut(where, "://"); url {
		err = unknownKind(name)
	} else {
		session, s.Reads, err = openSQLite(ctx, where)
	}
	if err != nil {
		return nil, err
	}
	s.Keyring.reads = s.Reads
	s.writer = newWriter(session, shared, s.publish)
	s.writer.keys = s.Keyring
	if s.InstallationID, err = s.installationID(ctx); err == nil {
		err = s.checkKey(ctx)
	}
	if err == nil {
		err = s.openAudit(ctx)
	}
	moved := 0
	if err == nil {
		moved, err = rotation{s}.sealBefore(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	if moved > 0 && !isPostgres(where) {
		scrub(ctx, where)
	}
	return s, nil
}

// SetCurrency sets the installation's currency, by ISO 4217. Amounts of tenants without their own are written in it.
func (s *DB) SetCurrency(code string) { s.writer.currency.Store(&code) }

// Currency is what SetCurrency set; template.DefaultCurrency before.
func (s *DB) Currency() string { return s.writer.currencyCode() }

// mayOpen refuses a database that a newer program has changed so that this one cannot work with it, or into which a backup is being brought.
func mayOpen(ctx context.Context, where string) error {
	found, err := Inspect(ctx, where)
	if err != nil && app.AsError(err).Reason == "no_database" {
		return nil
	}
	if err != nil {
		return err
	}
	return found.check()
}

// Close waits for the writes in progress and lets go of the database. It may be called twice.
func (s *DB) Close() error {
	if s.peers != nil {
		s.peers.close()
	}
	err := s.writer.close()
	if e := s.Reads.db.Close(); err == nil {
		err = e
	}
	return err
}

// Ping asks the database whether it answers.
func (s *DB) Ping(ctx context.Context) error {
	var one int
	return Wrapped(s.Reads.QueryRowContext(ctx, `SELECT 1`).Scan(&one))
}

// migrate makes the tables as they are after the migration only; 0: after the last.
func migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, files fs.FS, only int64) error {
	p, err := goose.NewProvider(dialect, db, files)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if only == 0 {
		_, err = p.Up(ctx)
	} else {
		_, err = p.UpTo(ctx, only)
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Installation returns this installation's id, made when the store was first opened.
func (s *DB) Installation(context.Context) (string, error) { return s.InstallationID, nil }

func (s *DB) installationID(ctx context.Context) (string, error) {
	var id string
	err := s.Write(ctx, func(t *Tx) error {
		if err := t.Exec(`INSERT INTO settings (name, value) VALUES ('installation', ?) ON CONFLICT DO NOTHING`,
			rand.Text()[:12]); err != nil {
			return err
		}
		return t.Row(`SELECT value FROM settings WHERE name = 'installation'`).Scan(&id)
	})
	return id, err
}

// publish runs after each commit.
func (s *DB) publish(topics map[app.Topic]bool, queued bool) {
	for t := range topics {
		s.pubsub.notify(t)
	}
	if queued {
		s.wake()
	}
}

func (s *DB) wake() {
	s.pubsub.notify(app.QueuedTopic())
	select {
	case s.committed <- struct{}{}:
	default:
	}
}

// hear passes on what another server has committed.
func (s *DB) hear(words []string) {
	for _, w := range words {
		topic, one := strings.CutPrefix(w, noteTopic)
		switch {
		case one:
			s.pubsub.notify(app.ParseTopic(topic))
		case w == noteAll:
			s.pubsub.notifyAll()
		case w == noteQueued:
			s.wake()
		}
	}
}

// Committed returns a channel that gets a (coalesced) value after every commit that may have queued steps.
func (s *DB) Committed() <-chan struct{} { return s.committed }

// Micros is how times are written: Unix microseconds, 0 for none.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// FromMicros is the time that was written as Micros.
func FromMicros(m int64) time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMicro(m).UTC()
}

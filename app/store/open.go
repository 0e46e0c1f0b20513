package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"

	"muster/app"
	"muster/migrations"
)

// Store implements app.Store on a SQLite file.
type Store struct {
	sealer
	reads        *sql.DB
	writer       *writer
	hub          *hub
	committed    chan struct{}
	installation string
}

var _ app.Store = (*Store)(nil)

// Open opens or makes the database file, brings its tables up to date, and starts the writer. EConflict where the
// database was made with another key. Close it.
func Open(ctx context.Context, file string, key []byte) (*Store, error) {
	sealer, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	writes, err := sql.Open("sqlite", dsn(abs, "_txlock=immediate", "_pragma=synchronous(FULL)"))
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	writes.SetMaxOpenConns(1)
	if err := migrate(ctx, writes); err != nil {
		_ = writes.Close()
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	reads, err := sql.Open("sqlite", dsn(abs, "_pragma=query_only(1)"))
	if err != nil {
		_ = writes.Close()
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	reads.SetMaxOpenConns(8)
	reads.SetMaxIdleConns(8)
	s := &Store{sealer: sealer, reads: reads, hub: newHub(), committed: make(chan struct{}, 1)}
	if s.writer, err = newWriter(ctx, writes, s.publish); err != nil {
		_ = reads.Close()
		_ = writes.Close()
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	if s.installation, err = s.installationID(ctx); err == nil {
		err = s.checkKey(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for the writes under way and lets go of the file. It may be called twice.
func (s *Store) Close() error {
	err := s.writer.close()
	if e := s.reads.Close(); err == nil {
		err = e
	}
	return err
}

// dsn uses modernc's own option names: those of other SQLite drivers would be ignored silently.
func dsn(file string, options ...string) string {
	query := "_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)"
	for _, o := range options {
		query += "&" + o
	}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: query}).String()
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.FS)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Installation implements app.PeopleStore.
func (s *Store) Installation(context.Context) (string, error) { return s.installation, nil }

func (s *Store) installationID(ctx context.Context) (string, error) {
	var id string
	err := s.write(ctx, func(t *tx) error {
		if err := t.exec(`INSERT INTO settings (name, value) VALUES ('installation', ?) ON CONFLICT DO NOTHING`,
			rand.Text()[:12]); err != nil {
			return err
		}
		return t.row(`SELECT value FROM settings WHERE name = 'installation'`).Scan(&id)
	})
	return id, err
}

// checkKey makes sure that the key is the one that the database was made with: else some secrets would be sealed under
// one key and some under another, and nobody would notice before they are needed.
func (s *Store) checkKey(ctx context.Context) error {
	const row, text = "key_check", "muster"
	var sealed string
	err := s.write(ctx, func(t *tx) error {
		if err := t.exec(`INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`,
			row, hex.EncodeToString(s.seal([]byte(text), "settings/"+row))); err != nil {
			return err
		}
		return t.row(`SELECT value FROM settings WHERE name = ?`, row).Scan(&sealed)
	})
	if err != nil {
		return err
	}
	b, err := hex.DecodeString(sealed)
	if err == nil {
		_, err = s.open(b, "settings/"+row)
	}
	if err != nil {
		return &app.Error{Code: app.EConflict, Reason: "wrong_key", Message: "The database was made with another secret key.",
			Hint: "Give the key that it was made with. If that is lost for good, delete the row key_check of the table settings:\n" +
				"clusters can then be deleted, but the keys of those that stand are lost."}
	}
	return nil
}

// publish runs after each commit.
func (s *Store) publish(clusters map[string]bool, queued bool) {
	for c := range clusters {
		s.hub.notify(c)
	}
	if queued {
		select {
		case s.committed <- struct{}{}:
		default:
		}
	}
}

// Committed implements app.Ledger.
func (s *Store) Committed() <-chan struct{} { return s.committed }

// micros is how times are written: Unix microseconds, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(m int64) time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMicro(m).UTC()
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"muster/app"
)

const (
	batchLimit = 100              // writes in one transaction
	linger     = time.Millisecond // how long a batch waits for company
	maxStmts   = 200              // prepared statements kept; all of ours fit
)

// writer is the one goroutine that writes. What piles up while a commit is under way is committed together.
type writer struct {
	db      *sql.DB
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	queue   chan *write
	publish func(clusters map[string]bool, queued bool)
	stop    sync.Once
	stopped chan struct{}
	done    chan struct{}
}

type write struct {
	act func(*tx) error
	err chan error
}

var errClosed = &app.Error{Code: app.ETransient, Message: "the store is closing"}

func newWriter(ctx context.Context, db *sql.DB, publish func(map[string]bool, bool)) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		db: db, conn: conn, stmts: map[string]*sql.Stmt{}, publish: publish,
		queue: make(chan *write, batchLimit), stopped: make(chan struct{}), done: make(chan struct{}),
	}
	go w.run()
	return w, nil
}

func (w *writer) close() error {
	w.stop.Do(func() { close(w.stopped) })
	<-w.done
	return w.db.Close()
}

// write runs act in a transaction of its own (possibly sharing the commit with others) and returns once it is on disk.
// act may not use ctx: a caller that goes away must not break the batch.
func (s *Store) write(ctx context.Context, act func(*tx) error) error {
	w := &write{act: act, err: make(chan error, 1)}
	select {
	case s.writer.queue <- w:
	case <-s.writer.stopped:
		return errClosed
	case <-ctx.Done():
		return &app.Error{Code: app.ETimeout, Message: "the database was too busy", Err: ctx.Err()}
	}
	select {
	case err := <-w.err:
		return forNow(err)
	case <-s.writer.done:
		select {
		case err := <-w.err:
			return forNow(err)
		default:
			return errClosed
		}
	}
}

// forNow tells the troubles that pass, such as a disk that is full, from those that asking again cannot help.
func forNow(err error) error {
	var from *sqlite.Error
	if !errors.As(err, &from) {
		return err
	}
	switch from.Code() & 0xff { // the rest says more precisely what
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM:
		return &app.Error{Code: app.ETransient, Reason: "database", Message: "The database cannot be written to at the moment", Err: err}
	}
	return err
}

func (w *writer) run() {
	defer close(w.done)
	defer func() {
		for _, s := range w.stmts {
			_ = s.Close()
		}
		_ = w.conn.Close()
	}()
	for {
		select {
		case first := <-w.queue:
			w.commit(w.gather(first))
		case <-w.stopped:
			for { // what was accepted is written
				select {
				case first := <-w.queue:
					w.commit(w.gather(first))
				default:
					return
				}
			}
		}
	}
}

// gather takes what is waiting; with company already there it lingers a little for more.
func (w *writer) gather(first *write) []*write {
	batch := []*write{first}
	var timer *time.Timer
	for len(batch) < batchLimit {
		select {
		case next := <-w.queue:
			batch = append(batch, next)
			continue
		default:
		}
		if len(batch) == 1 {
			return batch
		}
		if timer == nil {
			timer = time.NewTimer(linger)
			defer timer.Stop()
		}
		select {
		case next := <-w.queue:
			batch = append(batch, next)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

func (w *writer) commit(batch []*write) {
	ctx := context.Background()
	t := &tx{ctx: ctx, w: w, clusters: map[string]bool{}}
	errs := make([]error, len(batch))
	err := t.exec(`BEGIN IMMEDIATE`)
	if err == nil {
		for i, b := range batch {
			errs[i] = t.savepoint(b.act, len(batch) > 1)
			if errors.Is(errs[i], errBroken) {
				err = errs[i]
				break
			}
		}
	}
	if err == nil {
		if len(batch) == 1 && errs[0] != nil {
			_ = t.exec(`ROLLBACK`)
			t.clusters, t.queued = nil, false
		} else {
			err = t.exec(`COMMIT`)
		}
	}
	if err != nil {
		_ = t.exec(`ROLLBACK`)
		err = fmt.Errorf("store: commit: %w", err)
	} else {
		w.publish(t.clusters, t.queued)
	}
	for i, b := range batch {
		if errs[i] == nil {
			errs[i] = err
		}
		b.err <- errs[i]
	}
}

// errBroken says that the transaction itself cannot go on.
var errBroken = errors.New("transaction broken")

// tx is a transaction under way. clusters and queued gather what to tell others after the commit.
type tx struct {
	ctx      context.Context
	w        *writer
	clusters map[string]bool
	queued   bool
}

// savepoint runs act so that its failure undoes only its own changes.
func (t *tx) savepoint(act func(*tx) error, needed bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store: write panicked: %v", r)
			if needed && t.exec(`ROLLBACK TO w`) != nil {
				err = errors.Join(errBroken, err)
			}
		}
	}()
	if !needed {
		return act(t)
	}
	if err := t.exec(`SAVEPOINT w`); err != nil {
		return errors.Join(errBroken, err)
	}
	err = act(t)
	if err != nil {
		if e := t.exec(`ROLLBACK TO w`); e != nil {
			return errors.Join(errBroken, err, e) // a full disk undoes the whole transaction by itself
		}
	}
	if e := t.exec(`RELEASE w`); e != nil {
		return errors.Join(errBroken, e)
	}
	return err
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s := t.w.stmts[query]; s != nil {
		return s, nil
	}
	if len(t.w.stmts) >= maxStmts {
		for q, s := range t.w.stmts {
			_ = s.Close()
			delete(t.w.stmts, q)
		}
	}
	s, err := t.w.conn.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = s
	return s, nil
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.count(query, args...)
	return err
}

// count executes and gives the number of rows that changed.
func (t *tx) count(query string, args ...any) (int64, error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	return r.RowsAffected()
}

// row gives one row; Scan tells sql.ErrNoRows where there is none.
func (t *tx) row(query string, args ...any) scanner {
	s, err := t.stmt(query)
	if err != nil {
		return failed{err}
	}
	return s.QueryRowContext(t.ctx, args...)
}

// each calls f for every row. The rows are closed before it returns; f may not use the transaction.
func (t *tx) each(f func(scanner) error, query string, args ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	rows, err := s.QueryContext(t.ctx, args...)
	return eachRow(rows, err, f)
}

// event adds to a cluster's feed and wakes those who watch it.
func (t *tx) event(e app.Event) error {
	t.clusters[e.Cluster] = true
	return t.exec(`INSERT INTO events (at, tenant, cluster, operation, kind, node, step, status, message, done, total)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		micros(e.At), e.Tenant, e.Cluster, e.Operation, e.Kind, e.Node, e.Step, e.Status, e.Message, e.Done, e.Total)
}

// audit notes who did what to what.
func (t *tx) audit(at time.Time, tenant, user, act, object, detail string) error {
	return t.exec(`INSERT INTO audit (at, tenant, user_name, act, object, detail) VALUES (?, ?, ?, ?, ?, ?)`,
		micros(at), tenant, user, act, object, detail)
}

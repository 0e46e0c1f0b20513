package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/observe"
	"muster/app/template"
)

const (
	batchLimit = 100              // writes in one transaction
	batchDelay = time.Millisecond // how long a batch waits for company

	// A database that is lost is waited for, for as long as someone may be kept waiting for an answer.
	patience = 10 * time.Second
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

// writer is the one goroutine that writes. What piles up while a commit is in progress is committed together.
type writer struct {
	session  session
	batches  batches
	queue    chan *write
	publish  func(topics map[app.Topic]bool, queued bool)
	stop     sync.Once
	stopped  chan struct{}
	done     chan struct{}
	failed   error                  // of closing
	keys     *Keyring               // set before anything is written
	commits  atomic.Int64           // that succeeded
	currency atomic.Pointer[string] // of the installation; nil until it is set
}

// batches is how writes share the transactions of one kind of database.
type batches struct {
	most       int  // writes in one transaction
	optimistic bool // a batch is tried without a savepoint for each write first
}

// postgresBatches are small because more savepoints in one transaction slow all of them down.
var postgresBatches = batches{most: 60, optimistic: true}

// session is the writer's connection to one kind of database. Its transactions see all that was committed before they
// began, by whichever server, and no other server commits before they end.
type session interface {
	// begin starts a transaction. note, when not nil, is reported to the other servers at its commit.
	begin() error
	// commit returns errLost only when nothing of the transaction has happened.
	commit(note *note) error
	rollback()
	// later executes before the next of the others, or at the next commit, whose error it may then be.
	later(query string, args []any) error
	// flush executes what was left for later.
	flush() error
	count(query string, args []any) (int64, error)
	row(query string, args []any) Scanner
	each(f func(Scanner) error, query string, args []any) error
	// again tells that an error has undone the whole transaction and that it may well succeed when it is tried again.
	again(err error) bool
	close() error
}

// note is what a commit tells others.
type note struct {
	Topics map[app.Topic]bool
	Queued bool
}

type write struct {
	act   func(*Tx) error
	who   *app.Actor // on whose behalf, for the audit; nil: no one's
	err   chan error
	trace string // that it belongs to; "" for none
}

var errClosed = &app.Error{Code: app.ETransient, Message: "the store is closing"}

func newWriter(s session, b batches, publish func(map[app.Topic]bool, bool)) *writer {
	w := &writer{
		session: s, batches: b, publish: publish,
		queue: make(chan *write, batchLimit), stopped: make(chan struct{}), done: make(chan struct{}),
	}
	go w.run()
	return w
}

func (w *writer) close() error {
	w.stop.Do(func() { close(w.stopped) })
	<-w.done
	return w.failed
}

// Write runs act in a transaction of its own (possibly sharing the commit with others) and returns once it is on disk.
// act may run more than once, the last time counts: it begins from nothing each time and changes nothing outside of the
// transaction but its own results. It may not use ctx: a caller that goes away must not break the batch.
func (s *DB) Write(ctx context.Context, act func(*Tx) error) error {
	if t, ok := ctx.Value(joined{}).(*Tx); ok { // it is part of what is done together; we are on the writer's own goroutine
		return act(t)
	}
	if k, ok := app.OnceOf(ctx); ok {
		act = marked(k, act)
	}
	w := &write{act: act, err: make(chan error, 1), trace: observe.TraceOf(ctx)}
	if who, ok := identity.Acting(ctx); ok {
		w.who = &who
	}
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

func (w *writer) run() {
	defer close(w.done)
	defer func() { w.failed = w.session.close() }()
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

// Commits returns how many transactions this store has committed. Writes share them.
func (s *DB) Commits() int64 { return s.writer.commits.Load() }

// gather takes what is waiting; with company already there it lingers a little for more.
func (w *writer) gather(first *write) []*write {
	batch := []*write{first}
	var timer *time.Timer
	for len(batch) < w.batches.most {
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
			timer = time.NewTimer(batchDelay)
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

// commit writes a batch, and tries again for a while where the database was lost in the middle.
func (w *writer) commit(batch []*write) {
	began := time.Now()
	careful := len(batch) > 1 && !w.batches.optimistic
	var t *Tx
	var errs []error
	var err error
	for pause := minPause; ; {
		t, errs, err = w.try(batch, careful)
		if err == nil {
			break
		}
		w.session.rollback()
		switch {
		case w.session.again(err):
			if time.Since(began) < patience {
				time.Sleep(pause)
				pause = min(2*pause, maxPause)
				continue
			}
		case len(batch) > 1 && !careful && !errors.Is(err, errUnknown):
			careful = true // someone's fault: find out whose
			continue
		}
		err = fmt.Errorf("store: commit: %w", err)
		break
	}
	if err == nil {
		w.commits.Add(1)
		w.publish(t.Topics, t.Queued)
	}
	for i, b := range batch {
		if err != nil && (errs[i] == nil || len(batch) == 1) {
			errs[i] = err
		}
		b.err <- errs[i]
	}
}

func (w *writer) currencyCode() string {
	if code := w.currency.Load(); code != nil {
		return *code
	}
	return template.DefaultCurrency
}

// try runs a batch in one transaction. errs are of the single writes, err is of all of them: then nothing has happened.
func (w *writer) try(batch []*write, careful bool) (t *Tx, errs []error, err error) {
	t = &Tx{session: w.session, Keys: w.keys, currency: w.currencyCode(), note: note{Topics: map[app.Topic]bool{}}}
	errs = make([]error, len(batch))
	if err := w.session.begin(); err != nil {
		return t, errs, err
	}
	for i, b := range batch {
		t.changed, t.who, t.Trace = false, b.who, b.trace
		if careful {
			errs[i] = t.savepoint(b.act)
		} else {
			errs[i] = t.run(b.act)
		}
		switch {
		case errs[i] == nil:
		case errors.Is(errs[i], errBroken), w.session.again(errs[i]), !careful && len(batch) > 1 && t.changed:
			return t, errs, errs[i]
		}
	}
	if len(batch) == 1 && errs[0] != nil {
		w.session.rollback()
		t.note = note{}
		return t, errs, nil //nolint:nilerr // the error is in errs
	}
	return t, errs, w.session.commit(&t.note)
}

var (
	// errBroken says that the transaction itself cannot continue.
	errBroken = errors.New("transaction broken")
	// errUnknown says that no one can tell whether a commit has happened.
	errUnknown = errors.New("unknown whether the commit happened")
)

// Tx is a transaction in progress. Its note gathers what to tell others after the commit.
type Tx struct {
	session  session
	changed  bool       // by the act that runs, or an error of the database
	who      *app.Actor // on whose behalf the act runs; nil: no one's
	Keys     *Keyring
	Trace    string // that the act belongs to; "" for none
	currency string
	note
}

// Currency is that of DB.Currency.
func (t *Tx) Currency() string { return t.currency }

// run runs act and turns a panic into an error.
func (t *Tx) run(act func(*Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.changed = true
			err = fmt.Errorf("store: write panicked: %v", r)
		}
	}()
	return act(t)
}

// savepoint runs act so that its failure undoes only its own changes.
func (t *Tx) savepoint(act func(*Tx) error) (err error) {
	if err := t.session.later(`SAVEPOINT w`, nil); err != nil {
		return errors.Join(errBroken, err)
	}
	if err = t.run(act); err == nil {
		err = t.session.flush()
	}
	if err != nil {
		if _, e := t.session.count(`ROLLBACK TO w`, nil); e != nil {
			return errors.Join(errBroken, err, e) // a full disk undoes the whole transaction by itself
		}
	}
	if e := t.session.later(`RELEASE w`, nil); e != nil {
		return errors.Join(errBroken, e)
	}
	return err
}

// Exec executes. The error may come with a later statement instead, which then fails too.
func (t *Tx) Exec(query string, args ...any) error {
	t.changed = true
	return Wrapped(t.session.later(query, args))
}

// Count executes and returns the number of rows that changed.
func (t *Tx) Count(query string, args ...any) (int64, error) {
	t.changed = true
	n, err := t.session.count(query, args)
	return n, Wrapped(err)
}

// Row returns one row; Scan executes, and tells sql.ErrNoRows where there is none.
func (t *Tx) Row(query string, args ...any) Scanner {
	t.changed = t.changed || !strings.HasPrefix(query, "SELECT")
	return seen{t, t.session.row(query, args)}
}

// seen is a row whose failure spoils the transaction.
type seen struct {
	t *Tx
	Scanner
}

func (s seen) Scan(dest ...any) error {
	err := s.Scanner.Scan(dest...)
	s.t.changed = s.t.changed || err != nil && !IsNoRows(err)
	return err
}

// Each calls f for every row. The rows are closed before it returns; f may not use the transaction.
func (t *Tx) Each(f func(Scanner) error, query string, args ...any) error {
	err := t.session.each(f, query, args)
	t.changed = t.changed || err != nil || !strings.HasPrefix(query, "SELECT")
	return err
}

// Wrapped says of an error that it is the store's.
func Wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Event adds to a cluster's feed and wakes those who watch it.
func (t *Tx) Event(e app.Event) error {
	t.Topics[app.ClusterTopic(e.Cluster)], t.Topics[app.TenantTopic(e.Tenant)] = true, true
	return t.Exec(`INSERT INTO events (at, tenant, cluster, operation, kind, node, step, status, message, done, total)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		Micros(e.At), e.Tenant, e.Cluster, e.Operation, e.Kind, e.Node, e.Step, e.Status, e.Message, e.Done, e.Total)
}

// AddAudit notes in the audit who did what to what, and how it was before and after; nil where there is nothing to say. Secrets
// are not for it.
func (t *Tx) AddAudit(at time.Time, who app.Actor, act, object string, before, after any) error {
	detail := ""
	if before != nil || after != nil {
		detail = JSON(map[string]any{"before": before, "after": after})
	}
	return t.Chain(app.AuditEntry{Tenant: who.Tenant, At: at, Who: who.Name(), Via: who.Via, From: who.From, Token: who.Token,
		Act: act, Object: object, Detail: detail})
}

// joined is the key of the transaction that writes by a context are part of.
type joined struct{}

// Inside returns a context by which writes are part of the transaction.
func (t *Tx) Inside(ctx context.Context) context.Context { return context.WithValue(ctx, joined{}, t) }

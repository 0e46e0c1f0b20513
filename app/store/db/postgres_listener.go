//go:build !small

package db

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// A leader that was not heard of for so long is taken for dead; it stops leading by its own clock before.
	leaseTime  = 3 * time.Second
	leaseEvery = 700 * time.Millisecond
	// A server that what a leader needs has not answered for so long does not ask to lead, unless no one else does.
	unhealthyAfter = 2500 * time.Millisecond
	// A leader yields to another after so long. By then no one is taken for able any more who lost the same thing at
	// the same time: where it is away from all, anyone who leads continues.
	resignAfter   = 6 * time.Second
	candidateTime = 3 * leaseEvery // for so long a server that would lead counts as able
	// A time further ahead than this was written before the database's clock was set back.
	leaseFar = time.Minute
)

// listener is a server's connection to the others: it hears of their commits, and holds the lease of the one that leads.
type listener struct {
	config *pgx.ConnConfig
	id     string
	hear   func(words []string)
	cancel context.CancelFunc
	done   chan struct{}

	mu        sync.Mutex
	wanted    int           // calls of Lead in progress; without one, others may lead
	healthyAt time.Time     // when what a leader needs last answered; zero: no one says
	wakeNow   func()        // ends the wait until the lease is looked at
	until     time.Time     // leads until then, by this process's own clock
	changed   chan struct{} // closed and made again when this server begins to lead
	timer     *time.Timer
	term      context.CancelFunc
	ctx       context.Context // of the term; nil while others lead
}

func newListener(config *pgx.ConnConfig, id string, hear func(words []string)) *listener {
	ctx, cancel := context.WithCancel(context.Background())
	l := &listener{config: config, id: id, hear: hear, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	go l.run(ctx)
	return l
}

func (l *listener) close() {
	l.cancel()
	<-l.done
	l.resign()
}

// run keeps the connection, for as long as the store is open.
func (l *listener) run(ctx context.Context) {
	defer close(l.done)
	for pause := minPause; ctx.Err() == nil; {
		began := time.Now()
		_ = l.session(ctx) // whatever it was, the next one will tell
		if time.Since(began) > leaseTime {
			pause = minPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		}
	}
}

// session is one connection, until it is lost or ctx ends.
func (l *listener) session(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(dial, l.config)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if ctx.Err() != nil && !conn.IsClosed() { // stopping: the next leader need not wait
			_, _ = conn.Exec(last, `UPDATE leases SET until = 0 WHERE name = $1 AND holder = $2`, leaseName, l.id)
		}
		_ = conn.Close(last)
	}()
	if _, err := conn.Exec(dial, `LISTEN `+channel); err != nil {
		return err
	}
	l.hear([]string{noteQueued, noteAll}) // no one knows what was missed
	for {
		if l.wants() {
			if err := l.renew(ctx, conn); err != nil {
				return err
			}
		}
		if err := l.listen(ctx, conn); err != nil {
			return err
		}
	}
}

// listen hears what others say until it is time to renew the lease.
func (l *listener) listen(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, leaseEvery)
	defer cancel()
	l.mu.Lock()
	l.wakeNow = cancel
	l.mu.Unlock()
	for {
		n, err := conn.WaitForNotification(wait)
		if n != nil {
			if words := strings.Fields(n.Payload); len(words) > 0 && words[0] != l.id {
				l.hear(words[1:])
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case wait.Err() != nil && !conn.IsClosed():
			return nil
		default:
			return err
		}
	}
}

// The database's clock counts, so that those of the servers may differ. One statement needs no lock of ours.
const (
	// $5 is for how long the lease must have been no one's.
	takeLease = `INSERT INTO leases (name, holder, until) SELECT $1, $2, now.micros + $3 FROM ` + databaseNow + `
	ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE leases.holder = excluded.holder AND $5 = 0 OR leases.until < excluded.until - $3 - $5 OR leases.until > excluded.until + $4`

	// What another says of itself may be written over: one who is able is enough.
	announceCandidate = `INSERT INTO leases (name, holder, until) SELECT $1, $2, now.micros + $3 FROM ` + databaseNow + `
	ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until`

	yieldLease = `UPDATE leases SET until = now.micros FROM ` + databaseNow + ` WHERE name = $1 AND holder = $2
		AND EXISTS (SELECT 1 FROM leases a WHERE a.name = $3 AND a.holder <> $2 AND a.until > now.micros AND a.until < now.micros + $4)`
)

// renew takes the lease or extends it, where it is this server's or no one's, or hands it to a server that can do more with it.
func (l *listener) renew(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, leaseTime/2)
	defer cancel()
	leads, unable := l.leadership()
	if leads && unable > resignAfter {
		tag, err := conn.Exec(ctx, yieldLease, leaseName, l.id, candidateName, leaseFar.Microseconds())
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			l.resign()
			return nil
		}
	}
	var free time.Duration
	if !leads && unable > unhealthyAfter {
		free = leaseTime // who is able comes first
	}
	asked := time.Now()
	tag, err := conn.Exec(ctx, takeLease, leaseName, l.id, leaseTime.Microseconds(), leaseFar.Microseconds(), free.Microseconds())
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 1 {
		l.lead(asked.Add(leaseTime))
		return nil
	}
	l.resign()
	if unable <= unhealthyAfter {
		_, err = conn.Exec(ctx, announceCandidate, candidateName, l.id, candidateTime.Microseconds())
	}
	return err
}

func (l *listener) reportHealthy() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.healthyAt = time.Now()
}

// leadership reports whether this server leads, and for how long what a leader needs has not answered.
func (l *listener) leadership() (leads bool, unable time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.healthyAt.IsZero() {
		unable = time.Since(l.healthyAt)
	}
	return l.ctx != nil, unable
}

// lead begins or extends a term.
func (l *listener) lead(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	if l.ctx != nil {
		l.timer.Reset(time.Until(until))
		return
	}
	l.ctx, l.term = context.WithCancel(context.Background())
	l.timer = time.AfterFunc(time.Until(until), l.expire)
	close(l.changed)
	l.changed = make(chan struct{})
}

// expire ends a term that was not extended in time.
func (l *listener) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx != nil && !time.Now().Before(l.until) {
		l.end()
	}
}

func (l *listener) resign() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx != nil {
		l.end()
	}
}

func (l *listener) end() {
	l.timer.Stop()
	l.term()
	l.ctx, l.term = nil, nil
}

func (l *listener) wants() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wanted > 0
}

// want says that this server would lead, or does not want to any more.
func (l *listener) want(more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted += more
	if l.wakeNow != nil {
		l.wakeNow()
	}
}

// await waits until this server leads, and returns the term.
func (l *listener) await(ctx context.Context) (context.Context, error) {
	for {
		l.mu.Lock()
		term, changed := l.ctx, l.changed
		l.mu.Unlock()
		if term != nil {
			return term, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.done:
			return nil, errors.New("the store is closing")
		case <-changed:
		}
	}
}

package portal

import (
	"strconv"
	"sync"
	"time"
)

// How many sign-ins may fail, and for how long that is remembered. An address alone may fail more often than with one
// user, since many people may sit behind it.
const (
	attemptsPerUser    = 5
	attemptsPerAddress = 50
	attemptsWindow     = 5 * time.Minute
	attemptsKept       = 20_000 // entries; more are the work of somebody who wants to fill our memory
)

type attemptKey struct{ address, user string }

// attempts counts failed sign-ins by address and user, and by address alone, in windows of time that begin with the
// first failure. It is safe for several goroutines.
type attempts struct {
	now func() time.Time
	mu  sync.Mutex
	m   map[attemptKey]*tally
}

type tally struct {
	count int
	until time.Time
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, m: map[attemptKey]*tally{}}
}

// begin counts an attempt and gives 0, or gives how long to wait before another is allowed. Counting at the beginning
// keeps many attempts at the same moment from slipping through.
func (t *attempts) begin(k attemptKey) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if len(t.m) >= attemptsKept {
		t.sweep(now)
	}
	user, addr := t.at(k, now), t.at(attemptKey{address: k.address}, now)
	switch {
	case user.count >= attemptsPerUser:
		return user.until.Sub(now)
	case addr.count >= attemptsPerAddress:
		return addr.until.Sub(now)
	}
	user.count++
	addr.count++
	return 0
}

// forgive takes one attempt back.
func (t *attempts) forgive(k attemptKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range []attemptKey{k, {address: k.address}} {
		if e := t.m[k]; e != nil && e.count > 0 {
			e.count--
		}
	}
}

// forget clears a user at an address after a success. The address keeps its other failures, or an attacker with one
// account of his own could try for ever.
func (t *attempts) forget(k attemptKey) {
	t.forgive(k)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.m, k)
}

func (t *attempts) at(k attemptKey, now time.Time) *tally {
	e := t.m[k]
	if e == nil || !now.Before(e.until) {
		e = &tally{until: now.Add(attemptsWindow)}
		t.m[k] = e
	}
	return e
}

// sweep drops what is over, and everything when that does not help: a limit that forgets is better than a server
// without memory.
func (t *attempts) sweep(now time.Time) {
	for k, e := range t.m {
		if !now.Before(e.until) {
			delete(t.m, k)
		}
	}
	if len(t.m) >= attemptsKept {
		clear(t.m)
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

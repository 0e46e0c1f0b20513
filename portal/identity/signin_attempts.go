package identity

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"muster/portal/site"
)

// Limits on failed sign-ins, and how long failures count. An address has a higher limit than an address with one user, since many
// people may share it.
//
// An account alone is never locked: anyone who knows its name could lock its owner out. But while it is tried from many addresses,
// each address that its owner hasn't used recently gets one attempt, and after very many attempts the rest must wait. Owners
// can always sign in from addresses they have used before.
const (
	AttemptsPerUser    = 5
	AttemptsPerAddress = 50
	attemptsTillCrowd  = 20 // of one account, from all addresses
	AttemptsInCrowd    = 300
	attemptsAway       = 200 // redirects to identity providers from one address
	AttemptsWindow     = 5 * time.Minute
	AttemptsKept       = 20_000 // entries; more come from an attack on memory
)

// AttemptKey is what attempts are counted by: an address with a user, an address alone, or a user alone.
type AttemptKey struct{ Address, User string }

// attempts counts failed sign-ins, in windows that start with the first failure. It is safe for concurrent use.
type attempts struct {
	now func() time.Time
	mu  sync.Mutex
	M   map[AttemptKey]*tally
}

type tally struct {
	count int
	until time.Time
}

func NewAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, M: map[AttemptKey]*tally{}}
}

// keys are the counters of one attempt.
func (k AttemptKey) keys() [3]AttemptKey {
	near := site.Neighbourhood(k.Address)
	return [3]AttemptKey{{near, k.User}, {Address: near}, {User: k.User}}
}

// Crowded reports whether a user is tried from many addresses, so that it matters whether an address is known.
func (t *attempts) Crowded(user string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.M[AttemptKey{User: user}]
	return e != nil && t.now().Before(e.until) && e.count >= attemptsTillCrowd
}

// Begin counts an attempt and returns 0, or returns how long to wait before the next one. Known says that the user was at that
// address recently. Attempts count before they are tried, so that concurrent ones can't slip through. Refused attempts don't count, so
// that an address beyond its limit can't fill the table with names.
func (t *attempts) Begin(k AttemptKey, known bool) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, keys := t.now(), k.keys()
	pair, addr, user := t.at(keys[0], now), t.at(keys[1], now), t.at(keys[2], now)
	switch {
	case addr.count >= AttemptsPerAddress:
		return addr.until.Sub(now)
	case pair.count >= AttemptsPerUser:
		return pair.until.Sub(now)
	case known || user.count < attemptsTillCrowd:
	case pair.count >= 1:
		return pair.until.Sub(now)
	case user.count >= AttemptsInCrowd:
		return user.until.Sub(now)
	}
	for _, k := range keys {
		t.add(k, now)
	}
	return 0
}

// Leave counts a redirect to an identity provider, since each one stores state, and returns 0 or how long to wait.
func (t *attempts) Leave(address string) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, k := t.now(), AttemptKey{site.Neighbourhood(address), "\x00away"}
	if e := t.at(k, now); e.count >= attemptsAway {
		return e.until.Sub(now)
	}
	t.add(k, now)
	return 0
}

// forgive uncounts one attempt.
func (t *attempts) forgive(k AttemptKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range k.keys() {
		if e := t.M[k]; e != nil && e.count > 0 {
			e.count--
		}
	}
}

// Forget clears a user at an address after a success. The address keeps its other failures, or an attacker with one
// account of their own could try forever; so does the account, which may still be under attack from elsewhere.
func (t *attempts) Forget(k AttemptKey) {
	t.forgive(k)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.M, k.keys()[0])
}

// at returns the current tally of a key; empty for none.
func (t *attempts) at(k AttemptKey, now time.Time) tally {
	if e := t.M[k]; e != nil && now.Before(e.until) {
		return *e
	}
	return tally{}
}

func (t *attempts) add(k AttemptKey, now time.Time) {
	e := t.M[k]
	if e == nil || !now.Before(e.until) {
		if e == nil && len(t.M) >= AttemptsKept {
			t.sweep(now)
		}
		e = &tally{until: now.Add(AttemptsWindow)}
		t.M[k] = e
	}
	e.count++
}

// sweep makes room: it drops expired entries, and if that isn't enough, a part of the table: lowest counts first, then oldest.
// Entries at their limit go last.
func (t *attempts) sweep(now time.Time) {
	maps.DeleteFunc(t.M, func(_ AttemptKey, e *tally) bool { return !now.Before(e.until) })
	if len(t.M) < AttemptsKept {
		return
	}
	keys := slices.SortedFunc(maps.Keys(t.M), func(a, b AttemptKey) int {
		x, y := t.M[a], t.M[b]
		return cmp.Or(cmp.Compare(x.count, y.count), x.until.Compare(y.until))
	})
	for _, k := range keys[:AttemptsKept/16] {
		delete(t.M, k)
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

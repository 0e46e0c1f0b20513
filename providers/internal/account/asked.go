package account

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
)

// Asked remembers, by intent, what this process asked a cloud to make a short while ago. Lists may lack it still, and the
// cloud has no key of idempotency that would tell.
type Asked struct {
	mu sync.Mutex
	by map[string]asked
}

type asked struct {
	id string // "" where no answer came that says whether it was made
	at time.Time
}

// Keep remembers what came of a call: the thing that it made, or that this is not known. A call that was refused made nothing.
func (a *Asked) Keep(intent, id string, err error, late time.Duration) {
	if err != nil && decided(err) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]asked{}
	}
	for k, x := range a.by {
		if time.Since(x.at) > 6*late {
			delete(a.by, k)
		}
	}
	a.by[intent] = asked{id, time.Now()}
}

// decided reports whether an error says that nothing was made.
func decided(err error) bool {
	switch app.CodeOf(err) {
	case app.EInvalid, app.EQuota, app.ECapacity, app.ENotFound, app.ECredentials, app.EConflict, app.ERateLimit:
		return true
	}
	return false
}

func (a *Asked) of(intent string) (asked, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.by[intent]
	return x, ok
}

// Forget drops what is known of an intent: what was made is gone.
func (a *Asked) Forget(intent string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.by, intent)
}

// Standing returns what an intent has; nil for nothing. What lists lack that was just made is asked for by its id, and
// after a call without an answer it is looked for again for up to a minute, since a cloud may carry out the call late; see
// family.AfterLost. Get returns nil for what is not there any more.
func Standing[T any](ctx context.Context, a *Asked, intent string, late time.Duration, find func() (*T, error),
	get func(id string) (*T, error)) (*T, error) {
	one, err := find()
	if err != nil || one != nil {
		return one, err
	}
	last, ok := a.of(intent)
	switch {
	case !ok:
		return nil, nil
	case last.id != "":
		one, err = get(last.id)
	default:
		err = family.AfterLost(ctx, time.Since(last.at), late, func() (bool, error) {
			one, err = find()
			return one != nil, err
		})
	}
	if err == nil && one == nil {
		a.Forget(intent)
	}
	return one, err
}

// ID returns the thing that was made, or asked for, a short while ago; "" where that isn't known.
func (a *Asked) ID(intent string) string {
	x, _ := a.of(intent)
	return x.id
}

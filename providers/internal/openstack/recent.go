package openstack

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
)

// Recent remembers which servers this process asked for a short while ago: lists may lack them still, and Nova has no key of idempotency that would tell.
type Recent struct {
	mu sync.Mutex
	by map[string]recentCreate // by intent
}

type recentCreate struct {
	id string // "" where no answer came that says what happened to the call
	at time.Time
}

// keep remembers that a server was asked for, until lists are sure to show it.
func (a *Recent) keep(intent, id string, late time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]recentCreate{}
	}
	for k, one := range a.by {
		if time.Since(one.at) > 6*late {
			delete(a.by, k)
		}
	}
	a.by[intent] = recentCreate{id, time.Now()}
}

func (a *Recent) of(intent string) (recentCreate, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.by[intent]
	return one, ok
}

func (a *Recent) forget(intent string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.by, intent)
}

// untilSure is how long it takes until lists are sure to show what a call has made.
func untilSure(last recentCreate, p Pace) time.Duration { return time.Until(last.at.Add(p.Late)) }

func (o Order) intent() string {
	return o.Tags[family.TagInstallation] + "\x00" + o.Tags[family.TagIntent]
}

// standing returns the server of the intent; nil where there is none. One that was just made is asked for by its id, and after a call that was not answered it is
// looked for twice.
func (o Order) standing(ctx context.Context, s *Session, p Pace) (*Server, error) {
	one, err := find(ctx, s, o.Tags)
	if err != nil || one != nil {
		return one, err
	}
	last, ok := o.Recent.of(o.intent())
	switch {
	case !ok:
		return nil, nil
	case last.id != "":
		one, err = Get(ctx, s, last.id)
		if err == nil && !one.going() {
			return one, nil
		}
		if err != nil && !Absent(err) {
			return nil, err
		}
	default:
		if err := p.sleep(ctx, untilSure(last, p)); err != nil {
			return nil, err
		}
		if one, err = find(ctx, s, o.Tags); err != nil || one != nil {
			return one, err
		}
	}
	o.Recent.forget(o.intent())
	return nil, nil
}

// undecided reports whether the call that makes a server ended without saying that none was made.
func undecided(err error) bool {
	if Expired(err) {
		return false
	}
	switch app.CodeOf(Coded(err)) {
	case app.EInvalid, app.EQuota, app.ECapacity, app.ENotFound, app.ECredentials, app.EConflict, app.ERateLimit:
		return false
	}
	return true
}

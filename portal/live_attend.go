package portal

import (
	"context"
	"net/http"
	"sync"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/site"
)

// attendEvery is how soon a page that is kept up to date learns that its sign-in was ended.
const attendEvery = 10 * time.Second

// attendance looks whether sign-ins still count that opened pages. All pages of one share a look, so that what it costs grows with how
// many people look, not with how many pages they have open.
type attendance struct {
	mu  sync.Mutex
	all map[attendKey]*attending
}

// attendKey is a sign-in, as it is used.
type attendKey struct {
	id    int64
	visit identity.Visit
}

// attending is one sign-in while pages of it are open.
type attending struct {
	pages map[*context.CancelFunc]bool
	stop  context.CancelFunc
	done  chan struct{}
}

// enter has a page ended by gone when its sign-in does not count any more, as look tells. Leave when the page ends.
func (s *attendance) enter(ctx context.Context, k attendKey, every time.Duration, look func(context.Context) error, gone context.CancelFunc) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.all[k]
	if at == nil {
		looking, stop := context.WithCancel(context.WithoutCancel(ctx)) // it may outlive the page that began it
		at = &attending{pages: map[*context.CancelFunc]bool{}, stop: stop, done: make(chan struct{})}
		if s.all == nil {
			s.all = map[attendKey]*attending{}
		}
		s.all[k] = at
		go s.run(looking, k, at, every, look)
	}
	at.pages[&gone] = true
	return func() {
		s.mu.Lock()
		delete(at.pages, &gone)
		last := len(at.pages) == 0
		if last && s.all[k] == at {
			delete(s.all, k)
		}
		s.mu.Unlock()
		if last {
			at.stop()
			<-at.done
		}
	}
}

func (s *attendance) run(ctx context.Context, k attendKey, at *attending, every time.Duration, look func(context.Context) error) {
	defer close(at.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if app.CodeOf(look(ctx)) != app.EUnauthorized {
			continue
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.all[k] == at { // who signs in again is looked at again
			delete(s.all, k)
		}
		for gone := range at.pages {
			(*gone)()
		}
		return
	}
}

// attended ends a stream when the sign-in that opened it does not count any more. Looking does not count as use.
func (p *liveUpdates) attended(h site.MemberHandler) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		id, visit := p.SignInOf(r), site.VisitOf(r)
		visit.Looking = true
		leave := p.attendance.enter(ctx, attendKey{id, visit}, p.attend, func(ctx context.Context) error {
			_, err := p.SignIns.ActorOfSession(ctx, id, visit)
			return err
		}, cancel)
		defer leave()
		return h(w, r.WithContext(ctx), a)
	}
}

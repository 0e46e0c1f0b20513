package portal

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/site"
)

// attendEvery is how soon a live page notices that its sign-in has ended.
const attendEvery = 10 * time.Second

// attendance checks the sign-ins of open pages. All pages of a sign-in share a check, so that the cost grows with the number of people, not
// of pages.
type attendance struct {
	mu  sync.Mutex
	all map[attendKey]*attending
}

// attendKey is a sign-in in use: in a tenant, as who may do what.
type attendKey struct {
	id     int64
	visit  identity.Visit
	tenant string // that a superadmin acts in; else the user's
	role   app.Role
	groups string
}

// attending is a sign-in with open pages.
type attending struct {
	pages map[*context.CancelFunc]bool
	stop  context.CancelFunc
	done  chan struct{}
}

// enter calls gone when the page's sign-in is no longer valid, according to look. Leave must be called when the page ends.
func (s *attendance) enter(ctx context.Context, k attendKey, every time.Duration, look func(context.Context) error, gone context.CancelFunc) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.all[k]
	if at == nil {
		looking, stop := context.WithCancel(context.WithoutCancel(ctx)) // it may outlive the page that started it
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
		if s.all[k] == at { // a new sign-in is checked again
			delete(s.all, k)
		}
		for gone := range at.pages {
			(*gone)()
		}
		return
	}
}

// attended ends a stream when its sign-in is no longer valid, or its user has another role or other groups. The check doesn't count as use.
func (p *liveUpdates) attended(h site.MemberHandler) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		id, visit := p.SignInOf(r), site.VisitOf(r)
		visit.Looking = true
		key := attendKey{id, visit, a.Tenant, a.Role, strings.Join(a.Groups, "\n")}
		leave := p.attendance.enter(ctx, key, p.attend, func(ctx context.Context) error {
			now, err := p.SignIns.ActorOfSession(ctx, id, visit)
			if err == nil {
				now, err = p.ActingIn(ctx, now, a.Tenant)
			}
			if code := app.CodeOf(err); code == app.EForbidden || code == app.ENotFound { // the tenant is gone, or not for them any more
				return errOther
			}
			if err == nil && (now.Role != a.Role || !slices.Equal(now.Groups, a.Groups)) { // those who may still look connect again
				return errOther
			}
			return err
		}, cancel)
		defer leave()
		return h(w, r.WithContext(ctx), a)
	}
}

// errOther ends streams of users who may do other things than when they were opened.
var errOther = app.Errorf(app.EUnauthorized, "Your permissions have changed.")

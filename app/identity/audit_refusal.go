package identity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"muster/app"
)

// mostRefusals is how many refusals of one tenant the audit takes in a minute: anyone who is refused can ask again and again, and
// must not fill it.
const mostRefusals = 30

// refusals counts them by tenant.
type refusals struct {
	mu   sync.Mutex
	when time.Time // the minute
	of   map[string]int
}

// take reports whether one more is written, and how many were left out in the minute before.
func (r *refusals) take(tenant string, now time.Time) (ok bool, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(r.when) || r.of == nil {
		left = max(r.of[tenant]-mostRefusals, 0)
		r.when, r.of = minute, map[string]int{}
	}
	r.of[tenant]++
	return r.of[tenant] <= mostRefusals, left
}

// Refusal is that someone was not allowed something.
type Refusal struct {
	Actor app.Actor
	What  string // a path, or a word
	Why   error
}

// NoteRefusal writes into the audit that someone was refused. At most 30 a
// minute of each tenant are written. Faces call it; what is not of interest to security is left out.
func (a *AuditLog) NoteRefusal(ctx context.Context, r Refusal) {
	actor, code := r.Actor, app.CodeOf(r.Why)
	if code != app.EForbidden && code != app.EUnauthorized || actor.Tenant == "" {
		return
	}
	ok, left := a.refused.take(actor.Tenant, a.Now())
	if !ok {
		return
	}
	detail := app.AsError(r.Why).Reason
	if left > 0 {
		detail += fmt.Sprintf(" (%d more in the previous minute not listed)", left)
	}
	d := actor.AuditEntry(a.Now(), "refused", r.What, detail)
	if d.Who == "" {
		d.Who = "unknown"
	}
	_ = a.Store.AddAuditEntry(context.WithoutCancel(ctx), d) // the refusal itself is, whatever happens to its record
}

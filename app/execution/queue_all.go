package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Queues is what waits in all tenants: those first in which something waits longest.
type Queues struct {
	Text    string        `json:"text"` // the whole in a sentence
	Tenants []TenantQueue `json:"tenants"`
	More    int           `json:"more,omitempty"` // tenants beyond those
}

// TenantQueue is what waits in one tenant: its first operations, and what would help.
type TenantQueue struct {
	Queue
	Oldest time.Time `json:"oldest"` // when its oldest operation that has not ended was asked for
	Help   string    `json:"help"`   // what would help; "" where it goes on by itself
}

// QueueTenant is a tenant in which something is under way.
type QueueTenant struct {
	Tenant string
	Oldest time.Time
}

// How much one look at all queues shows.
const (
	mostQueues     = 100 // tenants
	mostQueueLines = 5   // operations of each of them
)

// Queues tells superadmins what waits in which tenant, why, since when, and what would help. Tenants in which nothing is under way
// are left out.
func (a *Waits) Queues(ctx context.Context, actor app.Actor) (Queues, error) {
	if err := actor.Authorize("Queues"); err != nil {
		return Queues{}, err
	}
	now := a.Now()
	tenants, more, err := a.Store.QueueTenants(ctx, mostQueues)
	if err != nil {
		return Queues{}, err
	}
	out := Queues{Tenants: []TenantQueue{}, More: more}
	asking, cancel := context.WithTimeout(ctx, 5*time.Second) // of all those together who may not be there
	defer cancel()
	operations := 0
	for _, t := range tenants {
		rows, err := a.Store.QueueLines(ctx, t.Tenant, now)
		if err != nil {
			return Queues{}, err
		}
		f := &waitFacts{now: now, lines: rows.Lines}
		f.askOthers(asking, a, t.Tenant)
		q := TenantQueue{Queue: f.queue(t.Tenant, rows), Oldest: t.Oldest}
		q.Help = helpful(q.Queue)
		operations += len(q.Operations) + q.Queue.More
		if n := len(q.Operations); n > mostQueueLines {
			q.Operations, q.Queue.More = q.Operations[:mostQueueLines], q.Queue.More+n-mostQueueLines
		}
		out.Tenants = append(out.Tenants, q)
	}
	out.Text = "No operations in progress or queued in any tenant."
	if n := len(out.Tenants) + more; n > 0 {
		out.Text = fmt.Sprintf("%s in progress in %s.", humanize.Count(operations, "operation"), humanize.Count(n, "tenant"))
		if more > 0 {
			out.Text = fmt.Sprintf("At least %s", out.Text)
		}
	}
	return out, nil
}

// helpful says what someone could do about what waits; what goes on by itself needs nothing. What keeps most comes first.
func helpful(q Queue) string {
	for _, h := range []struct {
		reason WaitReason
		text   string
	}{
		{WaitWorkers, "Assign a provisioner to the tenant. See Provisioners for candidates."},
		{WaitSlots, "Add slots: start another provisioner, or increase the tenant's share of one."},
		{WaitBudget, "Continues when the provider's rate limit allows. A higher limit would help."},
		{WaitBackOff, "Retried automatically. Check why the step failed."},
		{WaitPaused, "Resume or cancel the paused operations."},
	} {
		if slices.ContainsFunc(q.Groups, func(g WaitGroup) bool { return g.Reason == h.reason }) {
			return h.text
		}
	}
	return ""
}

package execution

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/lease"
	"muster/app/operation"
)

// WaitStore knows what waits, and for what.
type WaitStore interface {
	Logs(ctx context.Context, tenant string, cluster string, f cluster.LogFilter) ([]app.LogLine, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
	// ManualSteps returns a tenant's questions, oldest first.
	ManualSteps(ctx context.Context, tenant string, f ManualStepFilter) ([]ManualStep, error)
	// QueueLines lists the tenant's operations that have not ended, in the order in which they were requested, and of those that run the
	// steps that wait out a back-off, by error code, and that wait for a person.
	QueueLines(ctx context.Context, tenant string, now time.Time) (QueueRows, error)
	// QueueTenants returns the tenants in which an operation has not ended, at most limit of them, and how many more there are: the one
	// whose oldest operation was asked for first goes first.
	QueueTenants(ctx context.Context, limit int) (some []QueueTenant, more int, err error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	// WaitingRows returns what waits of an operation of the tenant: the counts, and a page of steps with what they wait for.
	WaitingRows(ctx context.Context, tenant string, operation int64, f WaitingFilter, now time.Time) (WaitingRows, error)
}

// WaitsConfig is what Waits is created from. Only what says so may be nil.
type WaitsConfig struct {
	Store         WaitStore
	Now           func() time.Time
	Budgets       Budgets
	Catalogs      *catalog.Service
	Clusters      *cluster.Finder
	Masks         *cluster.Masks
	Preflight     *cluster.Preflight
	Operations    *operation.Finder
	PausedDeletes *lease.PausedDeletes
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool
	Tries       func(app.Code) int // how often a step is tried whose attempts fail with a code; 0: not known
	// What people are notified of why something waits; nil: not known, or for Workers what the provisioners say.
	Workers Workforce
}

// Waits tell what waits, and why.
type Waits struct {
	WaitsConfig
}

// NewWaits returns them on top of what c holds.
func NewWaits(c WaitsConfig) *Waits { return &Waits{WaitsConfig: c} }

// Queue is what waits in a tenant, and why.
type Queue struct {
	Tenant     string      `json:"tenant"`
	Workers    int         `json:"workers"` // connected; -1 where that is not known
	Slots      int         `json:"slots"`   // of all of them; -1 where that is not known
	Running    int         `json:"running"` // steps at work
	Queued     int         `json:"queued"`  // steps that the next free slot takes
	Text       string      `json:"text"`    // the whole in a sentence
	Groups     []WaitGroup `json:"groups"`
	Operations []QueueLine `json:"operations"`     // oldest first
	More       int         `json:"more,omitempty"` // operations beyond those
}

// Queue tells admins what waits in their tenant: operations, steps by reason, and since when.
func (a *Waits) Queue(ctx context.Context, actor app.Actor) (Queue, error) {
	if err := actor.Authorize("Queue"); err != nil {
		return Queue{}, err
	}
	now := a.Now()
	rows, err := a.Store.QueueLines(ctx, actor.Tenant, now)
	if err != nil {
		return Queue{}, err
	}
	f := &waitFacts{now: now, lines: rows.Lines}
	f.askOthers(ctx, a, actor.Tenant)
	return f.queue(actor.Tenant, rows), nil
}

func (f *waitFacts) queue(tenant string, rows QueueRows) Queue {
	q := Queue{Tenant: tenant, Workers: -1, Slots: -1, Running: f.running(), Operations: rows.Lines, More: rows.More, Groups: []WaitGroup{}}
	if f.workers != nil {
		q.Workers, q.Slots = f.workers.Workers, f.workers.Slots
	}
	t := tally{}
	going := map[string]QueueLine{} // by cluster: what is running there
	for _, l := range rows.Lines {
		if l.Status != app.OperationWaiting {
			going[l.Cluster] = l
		}
	}
	for i, l := range rows.Lines {
		all := l.Waiting + l.Ready + l.Queued
		switch l.Status {
		case app.OperationWaiting:
			text := "Waiting for another operation on the cluster."
			t.add(WaitOperation, text, all, l.CreatedAt)
			l.Reason, l.Text = WaitOperation, "Waiting for the previous operation on the cluster."
			if b, ok := going[l.Cluster]; ok {
				l.Text = fmt.Sprintf("Waiting for %s, which %s.", b.Kind.The(), app.States[b.Status])
			}
		case app.OperationPaused:
			t.add(WaitPaused, "Operation paused.", all, l.CreatedAt)
			l.Reason, l.Text = WaitPaused, "Paused."
		case app.OperationCancelling:
			l.Text = "Being cancelled."
		default:
			q.Queued += l.Queued
			if l.Queued > 0 {
				reason, text := f.queued("")
				t.add(reason, text, l.Queued, l.CreatedAt)
				if l.Running == 0 {
					l.Reason, l.Text = reason, text
				}
			}
			t.add(WaitNode, "Node busy, or waiting for a retry.", l.Ready, l.CreatedAt)
			t.add(WaitSteps, "Waiting for other steps of the plan.", l.Waiting, l.CreatedAt)
		}
		q.Operations[i] = l
	}
	for _, b := range rows.BackOffs {
		reason, text := f.backOff(b.Code, b.Until, b.Last)
		t.take(WaitNode, b.Count)
		t.all = append(t.all, WaitGroup{Reason: reason, Text: text, Count: b.Count, Until: b.Until, Last: b.Last})
	}
	t.take(WaitNode, rows.Asked)
	t.add(WaitPerson, "Waiting for an answer to a manual step.", rows.Asked, time.Time{})
	q.Groups = t.groups()
	if q.Operations == nil {
		q.Operations = []QueueLine{}
	}
	q.Text = f.queueText(q)
	return q
}

func (f *waitFacts) queueText(q Queue) string {
	if len(q.Operations) == 0 {
		return "No operations in progress or queued."
	}
	text := fmt.Sprintf("%s in progress, %s running", humanize.Count(len(q.Operations)+q.More, "operation"), humanize.Count(q.Running, "step"))
	if q.Slots >= 0 {
		text += " on " + humanize.Count(q.Slots, "slot")
	}
	return fmt.Sprintf("%s, %d queued.", text, q.Queued)
}

// tally counts by reason and words.
type tally struct{ all []WaitGroup }

func (t *tally) add(reason WaitReason, text string, n int, since time.Time) {
	if n <= 0 {
		return
	}
	for i := range t.all {
		g := &t.all[i]
		if g.Reason == reason && g.Text == text {
			g.Count += n
			if g.Oldest.IsZero() || !since.IsZero() && since.Before(g.Oldest) {
				g.Oldest = since
			}
			return
		}
	}
	t.all = append(t.all, WaitGroup{Reason: reason, Text: text, Count: n, Oldest: since})
}

// take takes n away that were counted under a reason and are shown more exactly under another one.
func (t *tally) take(reason WaitReason, n int) {
	for i := range t.all {
		if g := &t.all[i]; g.Reason == reason {
			g.Count -= min(n, g.Count)
			return
		}
	}
}

func (t *tally) groups() []WaitGroup {
	var out []WaitGroup
	for _, g := range t.all {
		if g.Count > 0 {
			out = append(out, g)
		}
	}
	return joinGroups(out)
}

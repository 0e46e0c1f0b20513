package execution

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/lease"
	"muster/app/template"
)

// Waiting says for every step of the cluster's current operation that waits: for what, and in which place of the queue.
// Where nothing is running, nothing waits. Everyone of the tenant may look.
func (a *Waits) Waiting(ctx context.Context, actor app.Actor, cluster string, f WaitingFilter) (Waiting, error) {
	w := Waiting{Groups: []WaitGroup{}, Steps: []Wait{}}
	if err := actor.Authorize("Waiting"); err != nil {
		return w, err
	}
	if f.Limit < 0 || f.Limit > mostWaits {
		return w, &app.Error{Code: app.EInvalid, Field: "limit", Message: fmt.Sprintf("At most %d steps can be explained at once.", mostWaits)}
	}
	f.Limit = cmp.Or(f.Limit, someWaits)
	c, o, _, err := a.Operations.FindOperation(ctx, actor, cluster, 0)
	w.Cluster = c.ID
	if err != nil {
		return w, err
	}
	w.Operation, w.Kind, w.Status = o.ID, o.Kind, o.Status
	if o.Status.Ended() {
		w.Text = fmt.Sprintf("Nothing is waiting: %s %s.", o.Kind.The(), app.States[o.Status])
		return w, nil
	}
	now := a.Now() // one moment for all of the answer
	rows, err := a.Store.WaitingRows(ctx, actor.Tenant, o.ID, f, now)
	if err != nil {
		return w, err
	}
	m, err := a.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return w, err
	}
	appcluster.MaskSteps(m, rows.Steps)
	appcluster.MaskSteps(m, rows.Example)
	for _, needed := range rows.Needs {
		appcluster.MaskSteps(m, needed)
	}
	if f.Node != "" || f.Step != "" {
		if err := a.knownPart(ctx, o, f, rows); err != nil {
			return w, err
		}
	}
	facts, err := a.waitFacts(ctx, actor.Tenant, c, o, rows, now)
	if err != nil {
		return w, err
	}
	facts.explain(&w, rows)
	arrives := []WaitGroup{}
	for _, s := range rows.Arrives {
		said, err := a.Store.Logs(ctx, actor.Tenant, c.ID, appcluster.LogFilter{Operation: o.ID, Step: s.ID, Stream: family.StreamSystem, Tail: true, Limit: 1})
		if err != nil {
			return w, err
		}
		// What an earlier attempt said last is no news of this one.
		if said = appcluster.MaskLines(m, said); len(said) == 1 && said[0].Attempt == s.Attempt {
			arrives = append(arrives, WaitGroup{Reason: WaitMachine, Count: 1, Text: s.Node + ": " + said[0].Text})
		}
	}
	w.Groups = append(arrives, w.Groups...) // what the others wait for goes first
	return w, nil
}

// knownPart refuses a node or step that the operation does not have, with the nearest name.
func (a *Waits) knownPart(ctx context.Context, o app.Operation, f WaitingFilter, rows WaitingRows) error {
	if len(rows.Steps) > 0 || f.From > 0 {
		return nil
	}
	steps, err := a.Store.Steps(ctx, o.Tenant, o.ID)
	if err != nil {
		return err
	}
	var nodes, ids []string
	for _, s := range steps {
		if s.Node == f.Node || s.ID == f.Step {
			return nil // it does not wait
		}
		nodes, ids = append(nodes, s.Node), append(ids, s.ID)
	}
	name, names, what, field := f.Node, slices.Compact(nodes), "node", "node"
	if f.Step != "" {
		name, names, what, field = f.Step, ids, "step", "step"
	}
	e := &app.Error{Code: app.ENotFound, Field: field, Message: fmt.Sprintf("This operation has no %s %q.", what, name)}
	if near := humanize.Nearest(name, names); near != "" {
		e.Hint = "Did you mean " + near + "?"
	}
	return e
}

// waitFacts are what is true of a whole tenant or operation.
type waitFacts struct {
	now       time.Time
	op        app.Operation
	before    *app.Operation // that it waits for
	questions []ManualStep   // that are open
	overdue   *lease.Overdue // nil: a person decides when it continues
	lines     []QueueLine    // where any of its steps is queued
	workers   *WorkerCount   // nil: not known
	account   string
	budget    time.Duration
	tries     func(app.Code) int
}

func (a *Waits) waitFacts(ctx context.Context, tenant string, c app.Cluster, o app.Operation, rows WaitingRows, now time.Time) (f *waitFacts, err error) {
	f = &waitFacts{now: now, op: o, account: c.Provider, tries: a.Tries}
	if rows.queued() { // else the places of others in the queue are of no interest
		queue, err := a.Store.QueueLines(ctx, tenant, f.now)
		if err != nil {
			return nil, err
		}
		f.lines = queue.Lines
	}
	if f.overdue, err = a.PausedDeletes.Overdue(ctx, c, o); err != nil {
		return nil, err
	}
	if o.Status == app.OperationWaiting {
		ops, err := a.Store.Operations(ctx, tenant, o.Cluster)
		if err != nil {
			return nil, err
		}
		for _, b := range ops {
			if b.ID < o.ID && !b.Status.Ended() {
				f.before = &b
			}
		}
	}
	if f.questions, err = a.Store.ManualSteps(ctx, tenant, ManualStepFilter{Operation: o.ID, Limit: template.MostManualSteps}); err != nil {
		return nil, err
	}
	f.askOthers(ctx, a, tenant)
	return f, nil
}

// askOthers asks those who may not be there. What they cannot say is not known; the rest is worth telling without.
func (f *waitFacts) askOthers(ctx context.Context, a *Waits, tenant string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	f.workers = a.workforce(ctx, tenant, f.account)
	if a.Budgets != nil && f.account != "" {
		if d, err := a.Budgets.BudgetWait(ctx, a.Catalogs.AccountOf(ctx, tenant, f.account)); err == nil {
			f.budget = d
		}
	}
}

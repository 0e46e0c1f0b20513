package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/observe"
	"muster/app/template"
	"muster/jobs"
	"muster/jobs/budget"
	"muster/jobs/internal/loop"
)

// Defaults of a Reconciler.
const (
	reconcileEvery = 10 * time.Minute
	reconcileGap   = 10 * time.Second // least time between two passes over an account that no one asked for
	passTime       = 5 * time.Minute  // longest pass over one account
	reconcileTick  = time.Second
	// watchEvery is how often accounts with machines of clusters are listed to notice those that are gone. With the second look that
	// a loss takes, that is within a minute.
	watchEvery = 45 * time.Second
	// lostAfter is how long machines are away before they count as lost: longer than a restart of a host takes to begin, and
	// of a server that machines of the sandbox live in.
	lostAfter   = 8 * time.Second
	accountHold = time.Minute // how long a server that died keeps an account from the others
)

// A lost machine is noticed within a minute: the compiler refuses a negative number here.
const _ = uint(time.Minute - watchEvery - reconcileGap - 2*reconcileTick)

// Reconciler compares each provider account with the ledger, both ways, and proves that nothing is left of clusters that
// were deleted. Clusters whose machines are gone are marked as failed, and as active again once they are back. Machines of
// ours without an owner are listed as orphans; what happens to them is the policy's to say (app.OrphanPolicy).
// What it saw is kept in the store, so that a restart forgets no first sighting, and several servers can each have one: they
// take turns account by account.
//
// A machine without our installation's tag is never seen, let alone touched; providers' guard sees to that too.
type Reconciler struct {
	Name         string // unique among all servers that ever ran
	Installation string
	Accounts     AccountStore // with Orphans, Clusters, Proofs and Volumes: all of them are the installation's store
	Orphans      OrphanStore
	Clusters     ClusterStore
	Proofs       ProofStore
	Volumes      VolumeStore
	Snapshots    SnapshotStore
	Images       ImageStore // nil: no images are baked
	// Interruptions is the same store.
	Interruptions InterruptionStore
	Providers     jobs.Providers
	Catalog       func() *template.Catalog
	// Own returns the providers that tenants have of their own; nil: none do.
	Own func(context.Context) ([]*template.ProviderSpec, error)
	// Used reports whether a machine was ever asked for in an account, so that others are not asked anything; nil: all are looked at.
	Used func(ctx context.Context, account string) (bool, error)
	// Elsewhere tells that the machines of an account are on other hosts than this one, so that a list from here would lack them; nil: none.
	Elsewhere func(template.ProviderSpec) bool
	Tags      map[string]string // of this server's provisioner: accounts that ask for others may be out of its reach
	Log       *slog.Logger
	Policy    fleet.OrphanPolicy // zero: app.DefaultOrphanPolicy; its mode is what an admin has set in the store
	Every     time.Duration      // between two comparisons with the ledger; zero: ten minutes
	Watch     time.Duration      // between two looks for lost machines; zero: three quarters of a minute. No longer than Every
	Meter     observe.Meter      // nil: no one counts

	mu      sync.Mutex
	known   map[string]*template.ProviderSpec // accounts, by name
	next    map[string]time.Time              // when an account is to be looked at
	full    map[string]time.Time              // when it is to be compared with the ledger, too; zero: at the next look
	busy    map[string]bool                   // it is being looked at, by "account …" or "proof …"
	failed  map[string]int                    // passes in a row
	seen    map[string]bool                   // accounts that are used
	expects map[string]*expectation           // what accounts should have; an account's is its pass's alone
	trouble loop.Trouble
	work    sync.WaitGroup
}

// Run works until ctx ends, and returns when nothing of it runs any more. Accounts are looked at at once, and then from
// time to time; one that fails or hangs does not keep the others.
func (r *Reconciler) Run(ctx context.Context) {
	r.prepare()
	defer r.work.Wait()
	for {
		r.say("Checking accounts", r.tick(ctx))
		if loop.Pause(ctx, min(reconcileTick, r.Watch)) != nil {
			return
		}
	}
}

func (r *Reconciler) prepare() {
	if r.Policy == (fleet.OrphanPolicy{}) {
		r.Policy = fleet.DefaultOrphanPolicy
	}
	if r.Every == 0 {
		r.Every = reconcileEvery
	}
	if r.Watch == 0 {
		r.Watch = watchEvery
	}
	r.Watch = min(r.Watch, r.Every)
	r.next, r.full, r.busy, r.failed = map[string]time.Time{}, map[string]time.Time{}, map[string]bool{}, map[string]int{}
	r.expects = map[string]*expectation{}
}

func (r *Reconciler) say(what string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble.Say(r.Log, what, err)
}

// tick begins with what is due.
func (r *Reconciler) tick(ctx context.Context) error {
	if err := r.learnAccounts(ctx); err != nil {
		return err
	}
	mode, err := r.Accounts.OrphanMode(ctx)
	if err != nil {
		return err
	}
	if mode != fleet.OrphansOff {
		ordered, err := r.Accounts.OrderedAccounts(ctx)
		if err != nil {
			return err
		}
		for _, name := range ordered {
			r.schedule(name)
		}
		for name := range r.accounts() {
			if !r.due(name) {
				continue
			}
			used, err := r.used(ctx, name)
			if err != nil {
				return err
			}
			if !used {
				r.later(name, time.Now().Add(min(reconcileGap, r.Every)))
				continue
			}
			r.begin(ctx, "account "+name, func(ctx context.Context) { r.look(ctx, name, mode) })
		}
	}
	if err := r.beginVolumes(ctx); err != nil {
		return err
	}
	if err := r.beginSnapshots(ctx); err != nil {
		return err
	}
	return errors.Join(r.beginProofs(ctx), r.beginImages(ctx))
}

// schedule has an account looked at in the next tick.
func (r *Reconciler) schedule(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next[name], r.full[name] = time.Time{}, time.Time{}
}

func (r *Reconciler) due(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !time.Now().Before(r.next[name])
}

// begin does something beside the rest, within the time of a pass, unless the same is running.
func (r *Reconciler) begin(ctx context.Context, what string, do func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[what] {
		return
	}
	r.busy[what] = true
	r.work.Go(func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.busy, what)
		}()
		ctx, cancel := context.WithTimeout(ctx, passTime)
		defer cancel()
		if err := loop.Safely(func() error { do(ctx); return nil }); err != nil {
			r.Log.Error("account check crashed", "what", what, "error", err)
		}
	})
}

// look makes a pass over an account, unless another server does, and keeps what it found.
func (r *Reconciler) look(ctx context.Context, name string, mode fleet.OrphanMode) {
	began := time.Now()
	held, err := r.Accounts.HoldAccount(ctx, name, r.Name, began, accountHold)
	if err != nil || !held {
		r.say("Scheduling checks of account "+name, err)
		r.later(name, time.Now().Add(reconcileGap))
		return
	}
	p := pass{Reconciler: r, policy: r.Policy, account: app.Account{Provider: name, BeganAt: began}, next: began.Add(r.Every), again: began.Add(r.Watch)}
	p.policy.Mode = mode
	full := r.fullAt(name)
	if p.watches = began.Before(full); p.watches {
		p.next = full
		err = p.watch(ctx)
	} else {
		err = p.run(ctx)
	}
	if ctx.Err() == context.Canceled {
		err = fmt.Errorf("interrupted: %w", ctx.Err())
	} else {
		r.say("Checking account "+name, err)
	}
	if err != nil {
		p.account.Error = app.AsError(err).ForPeople()
		if e := app.AsError(err); e.Code == app.EInternal {
			p.account.Error = err.Error()
		}
	}
	if !p.idle {
		p.account.EndedAt = time.Now()
		r.passed(p.account, err)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	r.say("Saving the results of account checks", r.Accounts.EndPass(end, r.Name, p.account))
	at := r.after(name, err, p.next)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !p.watches || err != nil {
		r.full[name] = at
	}
	if p.again.Before(at) && err == nil {
		at = theLater(p.again, time.Now().Add(r.gap()))
	}
	r.next[name] = at
}

// theLater returns the later of two times.
func theLater(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// gap is the least time between two looks at an account that no one asked for.
func (r *Reconciler) gap() time.Duration { return min(reconcileGap, r.Watch) }

func (r *Reconciler) fullAt(name string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full[name]
}

// after says when an account is looked at again: as the pass wants it, and after a failure sooner than usual.
func (r *Reconciler) after(name string, err error, wanted time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if err != nil {
		r.failed[name]++
		wanted = now.Add(min(r.Every, max(app.AsError(err).RetryAfter, loop.BackOff(reconcileGap, r.failed[name]))))
	} else {
		r.failed[name] = 0
	}
	if least := now.Add(r.gap()); wanted.Before(least) {
		return least
	}
	return wanted
}

func (r *Reconciler) later(name string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next[name] = at
}

// passed counts a look at an account.
func (r *Reconciler) passed(a app.Account, err error) {
	m := observe.MeterOf(r.Meter)
	m.Add(observe.MetricReconcileRuns, 1, budget.Metered(a.Provider), app.CodeLabel(err))
	m.ObserveDuration(observe.MetricReconcileTime, a.EndedAt.Sub(a.BeganAt), budget.Metered(a.Provider))
	m.Add(observe.MetricFindings, float64(a.Deleted), budget.Metered(a.Provider), "deleted")
	m.Add(observe.MetricFindings, float64(a.HeldBack), budget.Metered(a.Provider), "held_back")
}

package execution

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

// granted is the worker's contract as one provisioner may use it for one tenant.
type granted struct {
	app         *Service
	provisioner app.Provisioner
	tenant      string
	inside      bool // it is looked up with each call that needs it
}

var (
	_ Coordinator = (*granted)(nil)
	_ WorkWaiter  = (*granted)(nil)
)

// Grant returns the contract for the workers of a provisioner that serve a tenant. Inside this process the provisioner is looked up with
// each call that needs it.
func (a *Service) Grant(p app.Provisioner, tenant string, inside bool) Coordinator {
	return &granted{app: a, provisioner: p, tenant: tenant, inside: inside}
}

// check keeps a worker to its own tenant and its own name.
func (g *granted) check(w app.WorkerID) error {
	if w.Tenant != g.tenant || !strings.HasPrefix(w.Name, WorkerPrefix(g.provisioner.ID)) || len(w.Name) > 200 {
		return app.Errorf(app.EForbidden, "This token belongs to another worker.")
	}
	return nil
}

// takes tells which providers' steps the worker may not take. EStale, reason "replaced", where it may take none, since the
// registration that it belongs to has ended.
func (g *granted) takes(ctx context.Context) (except []string, err error) {
	p := g.provisioner
	if g.inside {
		if p, err = g.app.Steps.Provisioner(ctx, p.ID); err != nil && app.CodeOf(err) != app.ENotFound {
			return nil, err
		}
	}
	if !p.State.Alive() {
		return nil, ErrReplaced
	}
	if !p.May(g.tenant) {
		return nil, ErrWorkerToken
	}
	c, err := g.app.Catalogs.CachedCatalogOf(ctx, g.tenant)
	if err != nil {
		return nil, err
	}
	for name, spec := range c.Providers {
		if !app.HasTags(p.Tags, spec.Provisioner) {
			except = append(except, name)
		}
	}
	slices.Sort(except)
	return except, nil
}

func (g *granted) Claim(ctx context.Context, w app.WorkerID, most int) ([]*Assignment, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	except, err := g.takes(ctx)
	if err != nil {
		return nil, err
	}
	return g.app.claimExcept(ctx, w, most, except)
}

// Heartbeat implements Coordinator. What a worker holds is its own to the end, even if its provisioner was replaced.
func (g *granted) Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]Directive, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	return g.app.Heartbeat(ctx, w, held)
}

// Report implements Coordinator. A worker whose registration has ended gets no next step.
func (g *granted) Report(ctx context.Context, w app.WorkerID, reports []Report) ([]Reported, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	if !g.inside && !g.provisioner.State.Alive() {
		reports = slices.Clone(reports)
		for i := range reports {
			reports[i].WantNext = false
		}
	}
	return g.app.Report(ctx, w, reports)
}

func (g *granted) Hosts(ctx context.Context, w app.WorkerID, f app.Fence) ([]family.HostEntry, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	return g.app.Hosts(ctx, w, f)
}

func (g *granted) Log(ctx context.Context, w app.WorkerID, lines []app.LogLine) error {
	if err := g.check(w); err != nil {
		return err
	}
	return g.app.Log(ctx, w, lines)
}

// awaitTime is how long AwaitWork waits at most, LookEvery how often it looks although no one woke it: what is queued may have
// grown old, or another server may have queued it.
const (
	awaitTime = 20 * time.Second
	LookEvery = time.Second
)

func (g *granted) AwaitWork(ctx context.Context, w app.WorkerID, patience time.Duration) (bool, error) {
	if err := g.check(w); err != nil {
		return false, err
	}
	except, err := g.takes(ctx)
	if ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	queued, stop := g.app.Steps.Watch(app.QueuedTopic())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	for {
		some, err := g.app.Steps.WorkQueued(ctx, w.Tenant, except, g.app.Now().Add(-max(patience, 0)))
		if ctx.Err() != nil {
			return false, nil
		}
		if some || err != nil {
			return some, err
		}
		look := time.NewTimer(LookEvery)
		select {
		case <-ctx.Done():
		case <-queued:
		case <-look.C:
		}
		look.Stop()
	}
}

package execution

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/health"
	"muster/app/humanize"
	appsecret "muster/app/secret"
	"muster/app/template"
)

var (
	_ CheckBatchSource = (*Service)(nil)
	_ CheckBatchSource = (*granted)(nil)
)

// checkBatchSignal wakes those who wait for check batches of a tenant. Waiters ask the database only when it has rung.
type checkBatchSignal struct {
	mu    sync.Mutex
	waits map[string][]chan struct{} // by tenant
}

// wait returns a channel that is closed at the next ring.
func (b *checkBatchSignal) wait(tenant string) (dispatched <-chan struct{}, stop func()) {
	c := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits == nil {
		b.waits = map[string][]chan struct{}{}
	}
	b.waits[tenant] = append(b.waits[tenant], c)
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		left := slices.DeleteFunc(b.waits[tenant], func(x chan struct{}) bool { return x == c })
		if b.waits[tenant] = left; len(left) == 0 {
			delete(b.waits, tenant)
		}
	}
}

// ring wakes all who wait for the tenant's check batches.
func (b *checkBatchSignal) wake(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.waits[tenant] {
		close(c)
	}
	delete(b.waits, tenant)
}

// SignalCheckBatches wakes workers of tenants that have check batches which are due, and tells when to ask again; zero where no cluster is looked
// after. It is asked once for all clusters, so that those which rest cost nothing.
func (a *Service) SignalCheckBatches(ctx context.Context) (next time.Time, err error) {
	due, err := a.Rounds.HealthDue(ctx, a.Now())
	if err != nil {
		return time.Time{}, err
	}
	for _, t := range due.Tenants {
		a.rounds.wake(t)
	}
	return due.Next, nil
}

func (a *Service) AwaitCheckBatch(ctx context.Context, w app.WorkerID) (*CheckBatch, error) {
	return a.awaitCheckBatch(ctx, w, func(context.Context) ([]string, error) { return nil, nil })
}

// AwaitCheckBatch implements CheckBatchSource, for the worker's own tenant and the providers that it reaches.
func (g *granted) AwaitCheckBatch(ctx context.Context, w app.WorkerID) (*CheckBatch, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	return g.app.awaitCheckBatch(ctx, w, g.takes)
}

func (g *granted) ReportCheckBatch(ctx context.Context, w app.WorkerID, r CheckBatchReport) error {
	if err := g.check(w); err != nil {
		return err
	}
	return g.app.ReportCheckBatch(ctx, w, r)
}

func (a *Service) awaitCheckBatch(ctx context.Context, w app.WorkerID, takes func(context.Context) ([]string, error)) (*CheckBatch, error) {
	limit := time.NewTimer(awaitTime)
	defer limit.Stop()
	for {
		dispatched, stop := a.rounds.wait(w.Tenant)
		select {
		case <-ctx.Done():
			stop()
			return nil, nil
		case <-limit.C:
			stop()
			return nil, nil
		case <-dispatched:
		}
		except, err := takes(ctx)
		if err != nil {
			return nil, err
		}
		r, err := a.claimCheckBatch(ctx, w, except)
		if r != nil || err != nil && ctx.Err() == nil {
			return r, err
		}
	}
}

// claimCheckBatch claims a check batch, if there is one, and works out what there is to look at.
func (a *Service) claimCheckBatch(ctx context.Context, w app.WorkerID, except []string) (*CheckBatch, error) {
	c, err := a.Rounds.ClaimCheckBatch(ctx, CheckBatchQuery{Worker: w, Except: except, Now: a.Now(), Within: health.CheckBatchTime})
	if err != nil || c == nil {
		return nil, err
	}
	r := &CheckBatch{Cluster: c.Cluster.ID, Tenant: c.Cluster.Tenant, Round: c.Round, Within: health.CheckBatchTime(len(c.Nodes)),
		SSHKey: c.Secrets.PrivateKey, Idle: c.Idle, Numbers: c.Numbers}
	own, err := a.Values.HasOwnAccount(ctx, c.Cluster.Tenant, c.Cluster.ID)
	if err != nil {
		return nil, err
	}
	if r.Guarded, err = a.guards(ctx, c.Cluster.Tenant, c.Cluster, &operationConfig{ownAccount: own}); err != nil {
		return nil, err
	}
	if named, generated := appsecret.CutGenerated(app.SecretNames(c.Definition.Config)); len(named)+len(generated) > 0 { // so that nothing that the checks say shows one
		var values map[string]string
		if len(named) > 0 {
			if values, err = a.Inputs.SecretValues(ctx, r.Tenant, named, a.Now()); err != nil {
				return nil, err
			}
		}
		r.Secrets = slices.Sorted(maps.Values(values))
		r.Secrets = append(r.Secrets, slices.Sorted(maps.Values(appsecret.GeneratedValues(c.Secrets.PrivateKey, generated)))...)
	}
	x := newHealthExpander(c)
	if x.shared != nil {
		to := make([]*app.Node, len(c.Nodes))
		for i := range c.Nodes {
			to[i] = &c.Nodes[i]
		}
		secret, err := a.ManualSteps.giveAnswers(ctx, c.Cluster, x.asked, &x.nodes, to)
		if err != nil {
			return nil, err
		}
		facts, err := a.Facts.giveFacts(ctx, c.Cluster, x.facts, to)
		if err != nil {
			return nil, err
		}
		r.Secrets = slices.Concat(r.Secrets, secret, facts)
	}
	for _, n := range c.Nodes {
		node := CheckBatchNode{Node: n}
		if !c.IdleOnly {
			node.Checks = x.checks(n)
		}
		r.Nodes = append(r.Nodes, node)
	}
	return r, a.askNotices(ctx, c, r)
}

// healthExpander expands the checks of a cluster's services, node by node.
type healthExpander struct {
	cluster.Definition
	nodes  template.MacroCluster
	shared *template.SharedConfig
	asked  []string       // services whose answers the configuration names
	facts  []app.FactName // facts that it names
	err    error          // why the configuration cannot be expanded
}

func newHealthExpander(c *ClaimedCheckBatch) *healthExpander {
	x := &healthExpander{Definition: c.Definition, nodes: template.NewMacroCluster(c.Cluster.Owner, c.Nodes)}
	for _, s := range x.Services {
		if s.Health != nil && s.Health.NamesConfig() {
			var m *template.MacroConfig
			if m, x.err = template.ParseMacros(c.Definition.Config); x.err == nil {
				x.shared, x.err = m.Shared(x.nodes)
				x.asked, x.facts = m.Asked(), m.Facts()
			}
			break
		}
	}
	return x
}

func (x *healthExpander) checks(n app.Node) []CheckBatchItem {
	var out []CheckBatchItem
	var config map[string]any
	err := x.err
	for _, name := range slices.Sorted(slices.Values(n.Services)) {
		svc := x.Services[name]
		if svc == nil || svc.Health == nil || x.IsStopped(n.Name, name) {
			continue
		}
		c := CheckBatchItem{Service: name}
		if svc.Health.NamesConfig() && config == nil && err == nil {
			config, err = x.shared.For(n)
		}
		e := err
		if !svc.Health.NamesConfig() || e == nil {
			c.Check, e = svc.Health.Expand(x.nodes, n, config)
		}
		if e != nil {
			c.Check, c.Wrong = nil, humanize.CutText(app.AsError(e).ForPeople(), template.MaxHealthReason)
		}
		out = append(out, c)
	}
	return out
}

func (a *Service) ReportCheckBatch(ctx context.Context, w app.WorkerID, r CheckBatchReport) error {
	need := map[string]int{}
	if len(r.Findings) > 0 {
		d, err := a.Inputs.Definition(ctx, w.Tenant, r.Cluster)
		if err != nil {
			return err
		}
		for name, s := range d.Services {
			if s.Health != nil {
				need[name] = s.Health.FailuresOr3()
			}
		}
	}
	o := CheckBatchOutcome{CheckBatchReport: r.bounded(), Tenant: w.Tenant, Worker: w.Name, Now: a.Now(), Need: need}
	if err := a.Rounds.EndCheckBatch(ctx, o); err != nil {
		return err
	}
	return a.noteNotices(ctx, o)
}

package fleet

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/execution"
	"muster/app/lease"
	"muster/app/template"
)

// idleKept is how long a tenant that has nothing to do keeps its workers, when no one else needs their slots.
const idleKept = 15 * time.Second

const (
	// checkBatchesAhead is how soon a tenant's next batch of health checks is due for it to keep its workers, when no one else needs their
	// slots, and checkBatchTimeout how long one may be due until a slot is asked for where its provider can be reached.
	checkBatchesAhead = 5 * time.Minute
	checkBatchTimeout = 10 * time.Second
)

// BalanceStore keeps which tenants have which slots.
type BalanceStore interface {
	EndProvisioner(ctx context.Context, id string, state app.ProvisionerState, now time.Time) error
	Load(ctx context.Context) (Load, error)
	CheckBatchesSoon(ctx context.Context, before time.Time) ([]execution.CheckBatchDemand, error)
	Share(ctx context.Context, version int64, shares []Share) (bool, error)
}

// Balancer keeps the shares of tenants as Balance wants them, and finds provisioners that are gone. Several servers may do so
// at the same time. It is for one goroutine.
type Balancer struct {
	Store    BalanceStore
	Now      func() time.Time
	Catalogs *catalog.Service
	// Most is how many slots one tenant may have that has no number of its own; 0: no limit.
	Most int
	// Alone says that there is no other server: a provisioner inside a server is then this one's, and alive.
	Alone bool
	// Mono is a clock that no one sets, such as time.Now, whose times Go compares without regard to the wall clock. The app's may be set.
	Mono func() time.Time

	heard    map[string]sighting
	listened time.Time // when Once was last called
}

// sighting is when we first saw a heartbeat, by our own clock: the wall clock may be set, and servers' clocks differ.
type sighting struct {
	beat time.Time
	at   time.Time
}

// Once brings everything up to date. It returns what it changed.
func (b *Balancer) Once(ctx context.Context) ([]Share, error) {
	l, err := b.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	lost := b.listen(l.Provisioners)
	for _, p := range lost {
		if err := b.Store.EndProvisioner(ctx, p.ID, app.ProvisionerLost, b.Now()); err != nil {
			return nil, err
		}
	}
	if len(lost) > 0 { // the version has changed
		if l, err = b.Store.Load(ctx); err != nil {
			return nil, err
		}
	}
	// A tenant whose clusters have health checks needs a worker, though it has no steps.
	rounds, err := b.Store.CheckBatchesSoon(ctx, b.Now().Add(checkBatchesAhead))
	if err != nil {
		return nil, err
	}
	specs, err := b.specs(ctx, l, rounds)
	if err != nil {
		return nil, err
	}
	changes := b.decide(l, rounds, specs)
	if len(changes) == 0 {
		return nil, nil
	}
	done, err := b.Store.Share(ctx, l.Version, changes)
	if err != nil || !done { // another server was faster: its change wakes us
		return nil, err
	}
	return changes, nil
}

// listen returns the provisioners that were not heard of for too long.
func (b *Balancer) listen(all []app.Provisioner) (lost []app.Provisioner) {
	now := b.Mono()
	// Who was frozen has heard no one meanwhile, which says nothing about the others.
	if now.Sub(b.listened) > app.ProvisionerSilence/2 {
		b.heard = nil
	}
	b.listened = now
	heard := make(map[string]sighting, len(all))
	for _, p := range all {
		s, known := b.heard[p.ID]
		if !known || !s.beat.Equal(p.SeenAt) {
			s = sighting{beat: p.SeenAt, at: now}
		}
		heard[p.ID] = s
		mine := b.Alone && strings.HasPrefix(p.ID, LocalPrefix)
		if !mine && now.Sub(s.at) > app.ProvisionerSilence {
			lost = append(lost, p)
		}
	}
	b.heard = heard
	return lost
}

// tenantProvider names a provider as a tenant knows it.
type tenantProvider struct{ tenant, name string }

// specs returns the providers that are asked for. One that is in the catalog no more is absent.
func (b *Balancer) specs(ctx context.Context, l Load, rounds []execution.CheckBatchDemand) (map[tenantProvider]*template.ProviderSpec, error) {
	specs := map[tenantProvider]*template.ProviderSpec{}
	add := func(tenant, name string) error {
		c, err := b.Catalogs.CachedCatalogOf(ctx, tenant)
		if err == nil && c.Providers[name] != nil {
			specs[tenantProvider{tenant, name}] = c.Providers[name]
		}
		return err
	}
	for _, d := range l.Demands {
		if err := add(d.Tenant, d.Provider); err != nil {
			return nil, err
		}
	}
	for _, r := range rounds {
		if err := add(r.Tenant, r.Provider); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

// decide returns what must change.
func (b *Balancer) decide(l Load, rounds []execution.CheckBatchDemand, providers map[tenantProvider]*template.ProviderSpec) (changes []Share) {
	now := b.Now()
	busy := map[string]bool{}
	demands := make([]Demand, 0, len(l.Demands))
	for _, d := range l.Demands {
		busy[d.Tenant] = true
		demand := Demand{Tenant: d.Tenant, Steps: d.Steps, Rest: d.Rest}
		if spec := providers[tenantProvider{d.Tenant, d.Provider}]; spec != nil { // one that is in the catalog no more fails anywhere
			demand.Needs = spec.Provisioner
		}
		demands = append(demands, demand)
	}
	rules := BalanceRules{Most: b.Most, Own: l.Slots, Keep: map[string]bool{}}
	var hosts []BalanceHost
	for _, p := range l.Provisioners {
		h := BalanceHost{ID: p.ID, Slots: p.Slots, Tags: p.Tags, Only: p.Only, Holds: map[string]int{}}
		for _, t := range p.Tenants {
			h.Holds[t.Tenant] = t.Slots
			since, idle := l.Idle[p.ID][t.Tenant]
			if !busy[t.Tenant] && (!idle || now.Sub(since) < idleKept) {
				rules.Keep[t.Tenant] = true
			}
		}
		if p.State == app.ProvisionerActive {
			hosts = append(hosts, h)
		}
	}
	for _, r := range rounds {
		rules.Keep[r.Tenant] = true
		late := now.Sub(r.DueAt)
		if !busy[r.Tenant] && late >= 0 && (late > checkBatchTimeout || !slices.ContainsFunc(hosts, func(h BalanceHost) bool { return h.Holds[r.Tenant] > 0 })) {
			d := Demand{Tenant: r.Tenant, Steps: 1, Rest: lease.DefaultGrace} // those with work to do come first
			if spec := providers[tenantProvider{r.Tenant, r.Provider}]; spec != nil {
				d.Needs = spec.Provisioner
			}
			demands = append(demands, d)
		}
	}
	shares := Balance(demands, hosts, rules)
	for _, p := range l.Provisioners {
		now := b.sharesOf(p, shares[p.ID], busy, l.Idle[p.ID], now)
		changes = append(changes, now...)
	}
	return changes
}

// sharesOf returns what changes for one provisioner.
func (b *Balancer) sharesOf(p app.Provisioner, shares map[string]int, busy map[string]bool, idle map[string]time.Time, now time.Time) (changes []Share) {
	before := map[string]int{}
	for _, t := range p.Tenants {
		before[t.Tenant] = t.Slots
		if shares[t.Tenant] == 0 {
			changes = append(changes, Share{Provisioner: p.ID, Tenant: t.Tenant})
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(shares)) {
		s := Share{Provisioner: p.ID, Tenant: tenant, Slots: shares[tenant]}
		since, wasIdle := idle[tenant]
		if !busy[tenant] {
			s.IdleSince = now
			if wasIdle && !since.After(now) {
				s.IdleSince = since
			}
		}
		if s.Slots != before[tenant] || wasIdle == busy[tenant] {
			changes = append(changes, s)
		}
	}
	return changes
}

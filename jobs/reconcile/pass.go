package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/observe"
	"muster/app/template"
	"muster/jobs/budget"
)

// pass is one look at one account.
type pass struct {
	*Reconciler
	policy  fleet.OrphanPolicy
	account app.Account
	name    string // of the provider, as its tenants know it
	own     string // the cluster whose account it is, of tenant; "" where it is a provider's
	tenant  string
	next    time.Time // when to compare again
	again   time.Time // when to look again for lost machines
	watches bool      // it looks for lost machines only
	idle    bool      // there was nothing to list the account for
	prices  map[string]map[string]float64
}

// run compares the account. The list is made before the ledger is read, so that a machine that is made in between is not
// taken for one that no one wants.
func (p *pass) run(ctx context.Context) error {
	name := p.account.Provider
	cloud, spec, err := p.open(ctx, name)
	if err != nil {
		return err
	}
	p.name = spec.Name
	if spec.Own != nil {
		p.own, p.tenant = spec.Own.Cluster, spec.Tenant
	}
	machines, err := p.list(ctx, cloud, spec)
	if err != nil {
		return err
	}
	live, err := p.Orphans.IntentsOf(ctx, p.name)
	if err != nil {
		return err
	}
	if p.own != "" {
		machines = slices.DeleteFunc(machines, func(m family.Machine) bool {
			if i, known := live[m.Tags[family.TagIntent]]; known {
				return i.Cluster != p.own
			}
			return m.Tags[family.TagCluster] != p.own // its users may have others there
		})
		p.account.Machines = len(machines)
	}
	maps.DeleteFunc(live, func(_ string, i app.LiveIntent) bool { return !p.mine(i) })
	errs := []error{p.learn(ctx, live, machines)}
	found, err := p.sort(ctx, live, machines)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	disks, err := p.sortVolumes(ctx, cloud)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	copies, err := p.sortSnapshots(ctx, cloud)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	images, err := p.sortImages(ctx, cloud)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	orphans, err := p.Orphans.SeeOrphans(ctx, name, time.Now(), slices.Concat(found, disks, copies, images))
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	p.account.Orphans = len(orphans)
	// The list may have taken so long that another server has the account by now: what both delete would be too much.
	held, err := p.Accounts.HoldAccount(ctx, name, p.Name, time.Now(), accountHold)
	if err == nil && !held {
		err = app.Errorf(app.ETransient, "the check took too long, and another server now handles account %s", name)
	}
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	errs = append(errs, p.clear(ctx, cloud, orphans))
	x, err := p.expect(ctx)
	if err == nil {
		err = p.compare(ctx, cloud, machines, x)
	}
	return errors.Join(append(errs, err)...)
}

// list returns the account's machines of ours.
func (p *pass) list(ctx context.Context, cloud family.Provider, spec *template.ProviderSpec) ([]family.Machine, error) {
	machines, err := cloud.List(ctx, map[string]string{family.TagInstallation: p.Installation})
	if err != nil {
		return nil, p.fromHere(spec, err)
	}
	machines = slices.DeleteFunc(slices.Clone(machines), func(m family.Machine) bool { return m.Tags[family.TagInstallation] != p.Installation })
	p.account.Machines = len(machines)
	return machines, nil
}

// watch looks for lost machines only, and leaves what is known of orphans as it is: how many machines may be deleted is bounded by how often
// accounts are compared. An account of which another server has just done so is left alone.
func (p *pass) watch(ctx context.Context) error {
	began := p.account.BeganAt
	known, err := p.Accounts.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range known {
		if a.Provider != p.account.Provider {
			continue
		}
		p.account, p.account.BeganAt = a, began
		doubts := p.expectationOf(a.Provider)
		if a.Error == "" && (doubts == nil || len(doubts.missed) == 0) && began.Sub(a.EndedAt) < p.Watch-p.gap() {
			p.idle, p.again = true, a.EndedAt.Add(p.Watch)
			return nil
		}
	}
	x, err := p.expect(ctx)
	if err != nil {
		return err
	}
	if len(x.machines) == 0 {
		p.idle = true
		return nil
	}
	p.account.Error, p.account.Lost, p.account.Deleted, p.account.HeldBack = "", 0, 0, 0
	cloud, spec, err := p.open(ctx, p.account.Provider)
	if err != nil {
		return err
	}
	machines, err := p.list(ctx, cloud, spec)
	if err != nil {
		return err
	}
	return p.compare(ctx, cloud, machines, x)
}

// learn writes down machines that no step has reported: the answer that named them was lost. They belong on the receipt.
func (p *pass) learn(ctx context.Context, live map[string]app.LiveIntent, machines []family.Machine) error {
	var errs []error
	for _, m := range machines {
		i, wanted := live[m.Tags[family.TagIntent]]
		if !wanted || i.Machine == m.ID {
			continue
		}
		seen := fleet.SeenMachine(m, p.price(ctx, i.Tenant, i.Cluster, i.Node))
		errs = append(errs, p.Orphans.NoteResources(ctx, p.name, i.ID, time.Now(), []app.Seen{seen}))
	}
	return errors.Join(errs...)
}

// sort finds the orphaned machines.
func (p *pass) sort(ctx context.Context, live map[string]app.LiveIntent, machines []family.Machine) (orphans []fleet.Orphan, err error) {
	running := map[string]bool{}
	for _, m := range machines {
		running[m.ID] = m.State != family.MachineStopped
	}
	for _, m := range machines {
		id := m.Tags[family.TagIntent]
		i, wanted := live[id]
		kind := fleet.OrphanUnknown
		switch {
		case wanted && i.Over:
			kind = fleet.OrphanEnded
		case wanted && i.Machine != "" && i.Machine != m.ID && running[i.Machine]:
			kind = fleet.OrphanDuplicate
		case wanted:
			continue // it is the one, or its create step has yet to say which one is
		default:
			ended, known, err := p.Orphans.IntentKnown(ctx, p.name, id)
			if err != nil {
				return nil, err
			}
			if known && !ended {
				continue // it was made after the ledger was read
			}
			if known {
				kind = fleet.OrphanEnded
			}
		}
		tags := m.Tags
		o := fleet.Orphan{ID: fleet.OrphanID(p.account.Provider, m.ID), Provider: p.account.Provider, Machine: m.ID,
			Resource: fleet.ResourceMachine, Hostname: m.Hostname, Zone: m.Zone,
			Tenant: tags[family.TagTenant], Cluster: tags[family.TagCluster], Node: tags[family.TagNode], Intent: id, Kind: kind, CreatedAt: m.CreatedAt}
		if wanted {
			o.Tenant, o.Cluster, o.Node = i.Tenant, i.Cluster, i.Node // tags of one that came from a pool may name that
		}
		if p.own != "" {
			o.Tenant, o.Cluster = p.tenant, p.own // whatever the account's owner has written on it
		}
		o.Price = p.price(ctx, o.Tenant, o.Cluster, o.Node)
		orphans = append(orphans, o)
	}
	return orphans, nil
}

// clear deletes what is to be deleted in this pass. What is due but too much at once is left for the passes after it, and
// people are notified.
func (p *pass) clear(ctx context.Context, cloud family.Provider, orphans []fleet.Orphan) error {
	now := time.Now()
	chosen, heldBack := p.policy.Choose(orphans, p.account.Machines, now)
	p.account.HeldBack = heldBack
	if heldBack > 0 {
		p.Log.Warn("too many machines are due for deletion at once: check `muster orphans`", "provider", p.account.Provider,
			"deleted now", len(chosen), "held back", heldBack)
	}
	var errs []error
	for _, o := range chosen {
		err := p.remove(ctx, cloud, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("machine %s: %w", o.Machine, err))
		}
	}
	for _, o := range orphans {
		if o.SeenCount == 1 {
			observe.MeterOf(p.Meter).Add(observe.MetricFindings, 1, budget.Metered(o.Provider), "orphan")
			p.Log.Warn("orphaned "+string(o.Resource)+" found", "provider", o.Provider, "machine", o.Machine, "cluster", o.Cluster,
				"node", o.Node, "kind", o.Kind)
		}
		if state, at := p.policy.Judge(o); state == fleet.OrphanDue && at.After(now) && at.Before(p.next) {
			p.next = at
		}
	}
	return errors.Join(errs...)
}

// remove deletes an orphan, after one more look at the ledger: someone may stand behind it by now.
func (p *pass) remove(ctx context.Context, cloud family.Provider, o fleet.Orphan) error {
	switch o.Resource {
	case fleet.ResourceVolume:
		return p.removeVolume(ctx, cloud, o)
	case fleet.ResourceSnapshot:
		return p.removeSnapshot(ctx, cloud, o)
	case fleet.ResourceImage:
		return p.removeImage(ctx, cloud, o)
	}
	if o.Kind != fleet.OrphanUnknown {
		live, err := p.Orphans.IntentsOf(ctx, p.name)
		if err != nil {
			return err
		}
		if i, wanted := live[o.Intent]; wanted && p.mine(i) && !i.Over && (i.Machine == o.Machine || o.Kind != fleet.OrphanDuplicate) {
			return nil
		}
	}
	err := cloud.Delete(ctx, o.Machine)
	if err == nil {
		var m family.Machine
		if m, err = cloud.Describe(ctx, o.Machine); app.CodeOf(err) == app.ENotFound {
			err = nil
		} else if err == nil {
			return p.failedToRemove(ctx, o, app.Errorf(app.ETransient, "%s still has machine %s, which is %s.", o.Provider, o.Machine, m.State))
		}
	}
	if err != nil {
		return p.failedToRemove(ctx, o, err)
	}
	p.account.Deleted++
	p.account.Orphans--
	p.Log.Warn("orphaned machine deleted", "provider", o.Provider, "machine", o.Machine, "cluster", o.Cluster, "node", o.Node,
		"kind", o.Kind, "ordered by", o.Decided)
	seen := app.Seen{Kind: fleet.ResourceMachine, ID: o.Machine, Zone: o.Zone, Price: o.Price, CreatedAt: o.Since(), Deleted: true}
	return errors.Join(p.Orphans.OrphanDeleted(ctx, o.ID, time.Now(), ""),
		p.Orphans.NoteResources(ctx, p.name, o.Intent, time.Now(), []app.Seen{seen}))
}

func (p *pass) failedToRemove(ctx context.Context, o fleet.Orphan, cause error) error {
	return errors.Join(cause, p.Orphans.OrphanDeleted(ctx, o.ID, time.Now(), app.AsError(cause).ForPeople()))
}

// price returns what a node's machine costs in an hour; 0 where that is not known.
func (p *pass) price(ctx context.Context, tenant, cluster, node string) float64 {
	if tenant == "" || cluster == "" {
		return 0
	}
	key := tenant + "/" + cluster
	if known, ok := p.prices[key]; ok {
		return known[node]
	}
	if p.prices == nil {
		p.prices = map[string]map[string]float64{}
	}
	of := map[string]float64{}
	p.prices[key] = of
	d, err := p.Clusters.Definition(ctx, tenant, cluster)
	if err != nil {
		return 0
	}
	nodes, err := p.Clusters.Nodes(ctx, tenant, cluster)
	if err != nil {
		return 0
	}
	for _, n := range nodes {
		of[n.Name] = d.Hardware[n.Hardware].CostPerHour
	}
	if _, known := of[node]; known {
		return of[node]
	}
	// A node that the cluster has given back has left its price.
	had, err := p.Clusters.Resources(ctx, tenant, cluster)
	if err != nil {
		return 0
	}
	for _, r := range had {
		if of[r.Node] == 0 {
			of[r.Node] = r.Price
		}
	}
	return of[node]
}

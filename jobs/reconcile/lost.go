package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/observe"
	"muster/app/operation"
	"muster/jobs/budget"
)

// Bounds of a look for lost machines.
const (
	maxLost      = 10   // machines of one cluster that the list lacks are asked for by themselves
	maxAsked     = 1000 // of all clusters of an account; the next looks ask for more
	maxFailures  = 10   // clusters that couldn't be looked at, before the rest is left to the next look
	comparedOnce = 500  // clusters are read together
)

// expectation is what the ledger says that an account should have. It follows the ledger's events, whichever server wrote them, so a look reads only what
// has changed since the one before; whenever the account is compared with the ledger, all of it is read.
type expectation struct {
	machines map[string]expected // by id
	latest   int64               // event up to which they are known
	// missed are clusters of which machines were away at the last look, and since when. What one server has seen isn't kept for the next: it looks
	// twice itself.
	missed map[string]time.Time
	// marked are clusters to look at whatever the list says.
	marked map[string]bool
}

// expected is a machine that a cluster should have.
type expected struct {
	cluster string
	lost    bool // it is known to be lost
	stopped bool // it may be stopped
	leaves  bool // it is known that its provider takes it away
}

// fine reports whether the list has the machine as it should be.
func (e expected) fine(listed map[string]family.MachineState, id string) bool {
	state, there := listed[id]
	return there && (e.stopped || state != family.MachineStopped)
}

// expectationOf returns what was known at the last look at an account; nil before the first.
func (r *Reconciler) expectationOf(account string) *expectation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expects[account]
}

// expect brings up to date what the account should have.
func (p *pass) expect(ctx context.Context) (*expectation, error) {
	x := p.expectationOf(p.account.Provider)
	after := int64(-1)
	if p.watches && x != nil {
		after = x.latest
	}
	changed, latest, err := p.Clusters.ClustersChanged(ctx, after)
	if err != nil {
		return nil, err
	}
	switch {
	case after < 0 || latest < after:
		missed := map[string]time.Time{}
		if x != nil {
			missed = x.missed
		}
		x, changed = &expectation{machines: map[string]expected{}, missed: missed, marked: map[string]bool{}}, nil
	case len(changed) == 0:
		x.latest = latest
		return x, nil
	default:
		again := map[string]bool{}
		for _, id := range changed {
			again[id] = true
		}
		maps.DeleteFunc(x.machines, func(_ string, e expected) bool { return again[e.cluster] })
	}
	spec := p.accounts()[p.account.Provider]
	if spec == nil {
		return x, nil // opening it says so
	}
	last := "" // one string for all machines of a cluster
	if err := p.Clusters.ExpectedMachines(ctx, spec.Name, spec.Tenant, changed, func(m fleet.ExpectedMachine) error {
		if p.accountOf(app.Cluster{ID: m.Cluster, Tenant: m.Tenant, Provider: spec.Name}) != p.account.Provider {
			return nil
		}
		if m.Cluster != last {
			last = m.Cluster
		}
		x.machines[m.ID] = expected{cluster: last, lost: m.Lost, stopped: m.Status == app.ClusterAsleep, leaves: m.Leaves}
		// An active cluster has a lost machine where a server died between noting the two.
		if changed == nil && m.Marked || m.Lost && m.Status == app.ClusterActive {
			x.marked[last] = true
		}
		return nil
	}); err != nil {
		return nil, err
	}
	x.latest = latest
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expects[p.account.Provider] = x
	return x, nil
}

// compare marks clusters of the account whose machines do not all run, and those whose machines are back.
func (p *pass) compare(ctx context.Context, cloud family.Provider, machines []family.Machine, x *expectation) error {
	l := &lostSearch{pass: p, expectation: x, cloud: cloud, listed: map[string]family.MachineState{}, leaves: map[string]time.Time{},
		lost: map[string]bool{}, taken: map[string]bool{}}
	for _, m := range machines {
		l.listed[m.ID] = m.State
		if !m.LeavesAt.IsZero() && m.State != family.MachineStopped {
			l.leaves[m.ID] = m.LeavesAt
		}
		if m.Taken && !x.machines[m.ID].stopped {
			l.leaves[m.ID], l.taken[m.ID] = time.Now(), true
		}
	}
	odd := x.marked
	x.marked = map[string]bool{}
	for id, e := range x.machines {
		if _, leaves := l.leaves[id]; leaves != e.leaves {
			odd[e.cluster] = true
		}
		switch fine := e.fine(l.listed, id); {
		case fine == e.lost:
			odd[e.cluster] = true
		case e.lost:
			l.lost[e.cluster] = true
		}
	}
	maps.DeleteFunc(x.missed, func(cluster string, _ time.Time) bool { return !odd[cluster] })
	var first, then []string // those that wait for their second look come first: there is an end to what one look asks
	for id := range odd {
		if _, waits := x.missed[id]; waits {
			first = append(first, id)
		} else {
			then = append(then, id)
		}
	}
	err := l.clusters(ctx, append(first, then...))
	p.account.Lost = len(l.lost)
	return err
}

// lostSearch is one search for lost machines.
type lostSearch struct {
	*pass
	*expectation
	cloud  family.Provider
	listed map[string]family.MachineState
	leaves map[string]time.Time // when the provider takes machines away, as it has announced
	lost   map[string]bool      // clusters with lost machines
	taken  map[string]bool      // machines that the provider has taken away, which needn't be away at a second list
	asked  int
}

// clusters looks for the machines of clusters, one after the other. One that fails doesn't keep the others.
func (l *lostSearch) clusters(ctx context.Context, ids []string) error {
	var errs []error
	for ids := range slices.Chunk(ids, comparedOnce) {
		clusters, err := l.Clusters.ComparedClusters(ctx, ids)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, c := range clusters {
			if l.accountOf(c.Cluster) != l.account.Provider {
				continue
			}
			if err := errors.Join(l.interrupted(ctx, c), l.cluster(ctx, c)); err != nil {
				errs = append(errs, err)
			}
			if len(errs) == maxFailures {
				return errors.Join(errs...)
			}
		}
	}
	return errors.Join(errs...)
}

// keptAnnounced is for how long after its time an announcement counts of a machine that still runs and of which the provider announces nothing any more. A list
// that can't tell for now takes nothing back.
const keptAnnounced = 10 * time.Minute

// interrupted notes which machines of a cluster the provider takes away.
func (l *lostSearch) interrupted(ctx context.Context, c fleet.ComparedCluster) error {
	var all []fleet.Interruption
	var errs []error
	for _, n := range c.Nodes {
		at, leaves := l.leaves[n.MachineID]
		switch {
		case n.MachineID == "" || n.Lost():
		case leaves && n.LeavesAt.IsZero():
			if sure, err := l.confirmed(ctx, n.MachineID); err != nil || !sure {
				errs = append(errs, err)
				continue
			}
			all = append(all, fleet.Interruption{Node: n.Name, Machine: n.MachineID, At: at})
		case !leaves && n.Interrupted() && l.listed[n.MachineID] == family.MachineRunning && time.Since(n.LeavesAt) > keptAnnounced:
			all = append(all, fleet.Interruption{Node: n.Name, Machine: n.MachineID})
		}
	}
	if len(all) == 0 {
		return errors.Join(errs...)
	}
	newly, err := l.Interruptions.MarkInterrupted(ctx, c.Tenant, c.ID, all, time.Now())
	if err == nil && len(newly) > 0 {
		observe.MeterOf(l.Meter).Add(observe.MetricFindings, float64(len(newly)), budget.Metered(l.account.Provider), "interrupted")
		l.Log.Warn("machines will be interrupted", "cluster", c.ID, "nodes", strings.Join(newly, ", "))
	}
	return errors.Join(append(errs, err)...)
}

// confirmed asks the provider for one machine that its list says it has taken away: a person may have stopped it, and
// started it again since. An announcement needs no such look.
func (l *lostSearch) confirmed(ctx context.Context, machine string) (bool, error) {
	if !l.taken[machine] {
		return true, nil
	}
	if l.asked == maxAsked {
		return false, nil // the next look finds it
	}
	l.asked++
	m, err := l.cloud.Describe(ctx, machine)
	if app.CodeOf(err) == app.ENotFound {
		return true, nil
	}
	if err == nil && (m.State != family.MachineStopped || !m.Taken) {
		delete(l.taken, machine)
	}
	return err == nil && l.taken[machine], err
}

// cluster looks for the machines of one cluster. A list may be late or cut short, so each machine that it lacks is asked for by itself before it counts as
// lost; and it has to be away at a second look, since a machine may just be restarting.
func (l *lostSearch) cluster(ctx context.Context, c fleet.ComparedCluster) error {
	runs := c.Status == app.ClusterActive || c.Lost // nothing but lost machines is wrong with it
	var names, gone, found []string                 // names: of all that are lost
	asked, all, taken := 0, true, true
	for _, n := range c.Nodes {
		if n.MachineID == "" || n.Status != app.NodeReady && (runs || n.Status != app.NodeCreated) {
			continue
		}
		e := l.machines[n.MachineID]
		e.stopped = e.stopped || c.Status == app.ClusterAsleep
		switch fine := e.fine(l.listed, n.MachineID); {
		case fine && n.Lost():
			found = append(found, n.Name)
			continue
		case fine:
			continue
		case n.Lost():
			names = append(names, n.Name)
			continue
		}
		if asked == maxLost || l.asked == maxAsked {
			all = false
			continue // the next look finds more
		}
		asked, l.asked = asked+1, l.asked+1
		away, err := l.away(ctx, c, n, e.stopped)
		if err != nil {
			return err
		}
		if away {
			names, gone = append(names, n.Name), append(gone, n.Name)
			taken = taken && l.taken[n.MachineID]
		}
	}
	known := len(names) - len(gone)
	if len(gone) == 0 || c.Lost {
		delete(l.missed, c.ID)
	} else if !taken && !l.twice(c.ID) {
		if runs {
			return nil
		}
		gone = nil
	}
	newly, err := l.Clusters.MarkNodes(ctx, c.Tenant, c.ID, gone, found, time.Now())
	if err != nil {
		return err
	}
	switch {
	case known+len(gone) > 0:
		l.lost[c.ID] = true
	case c.Lost && all:
		delete(l.lost, c.ID)
		l.Log.Info("a cluster's machines are running again", "cluster", c.ID)
		return l.Clusters.MarkFound(ctx, c.Tenant, c.ID, time.Now())
	default:
		return nil
	}
	if !c.Lost && newly > 0 {
		observe.MeterOf(l.Meter).Add(observe.MetricFindings, 1, budget.Metered(l.account.Provider), "lost")
		l.Log.Warn("machines are missing", "cluster", c.ID, "nodes", strings.Join(names, ", "))
	}
	switch {
	case runs:
		return l.Clusters.MarkLost(ctx, c.Tenant, c.ID, operation.LostWords(names), time.Now())
	case c.Status == app.ClusterAsleep && newly > 0:
		return l.Clusters.MarkLost(ctx, c.Tenant, c.ID, operation.LostAsleepWords(names), time.Now())
	}
	return nil
}

// away asks the provider for one machine. One that is only stopped counts where its cluster wasn't put to sleep.
func (l *lostSearch) away(ctx context.Context, c fleet.ComparedCluster, n app.Node, stopped bool) (bool, error) {
	m, err := l.cloud.Describe(ctx, n.MachineID)
	if err == nil && !m.Taken {
		delete(l.taken, n.MachineID)
	}
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return true, nil
	case err != nil || m.State != family.MachineStopped || stopped:
		return false, err
	case c.Status == app.ClusterActive || c.Lost:
		return true, nil
	}
	ops, err := l.Clusters.Operations(ctx, c.Tenant, c.ID)
	if err != nil || !appcluster.MaySleep(ops) {
		return err == nil, err
	}
	if e, known := l.machines[n.MachineID]; known { // until something is done to the cluster
		e.stopped = true
		l.machines[n.MachineID] = e
	}
	return false, nil
}

// twice reports whether machines of a cluster have been away for long enough to be lost; else it has them looked at again soon.
func (l *lostSearch) twice(cluster string) bool {
	since, known := l.missed[cluster]
	if !known {
		since = time.Now()
		l.missed[cluster] = since
	}
	if time.Since(since) >= min(lostAfter, l.Watch) {
		delete(l.missed, cluster)
		return true
	}
	if again := since.Add(lostAfter); again.Before(l.again) {
		l.again = again
	}
	return false
}

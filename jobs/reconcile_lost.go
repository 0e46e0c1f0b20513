package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// mostLost is how many machines of a cluster that the list lacks are asked for in one pass.
const mostLost = 10

// compare marks clusters of the account whose machines do not all run, and those whose machines are back.
func (p *pass) compare(ctx context.Context, cloud app.Provider, machines []app.Machine) error {
	running := map[string]bool{}
	for _, m := range machines {
		running[m.ID] = m.State != app.MachineStopped
	}
	active, err := p.Store.ActiveClusters(ctx)
	if err != nil {
		return err
	}
	lost, err := p.Store.LostClusters(ctx)
	if err != nil {
		return err
	}
	failed, err := p.Store.FailedClusters(ctx)
	if err != nil {
		return err
	}
	p.forget(active, lost, failed)
	var errs []error
	for _, c := range failed {
		if p.accountOf(c) == p.account.Provider {
			errs = append(errs, p.failedCluster(ctx, cloud, c, running))
		}
	}
	for i, c := range append(active, lost...) {
		if p.accountOf(c) == p.account.Provider {
			errs = append(errs, p.cluster(ctx, cloud, c, i >= len(active), running))
		}
	}
	return errors.Join(errs...)
}

// cluster looks for the machines of one cluster. A list may be late or cut short, so each machine that it lacks is asked for
// by itself before it counts as lost; and it has to be away at a second look, since a machine may just be starting anew.
func (p *pass) cluster(ctx context.Context, cloud app.Provider, c app.Cluster, wasLost bool, running map[string]bool) error {
	nodes, err := p.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	var names, found []string
	asked := 0
	for _, n := range nodes {
		if n.Lost() && running[n.MachineID] {
			found = append(found, n.Name)
		}
		if n.Status != app.NodeReady || running[n.MachineID] {
			continue
		}
		if n.Lost() {
			names = append(names, n.Name)
			continue
		}
		if asked++; asked > mostLost {
			continue // the next pass finds more
		}
		m, err := cloud.Describe(ctx, n.MachineID)
		switch {
		case app.CodeOf(err) == app.ENotFound, err == nil && m.State == app.MachineStopped:
			names = append(names, n.Name)
		case err != nil:
			return err
		}
	}
	since := p.missing(c.ID, len(names) > 0)
	switch {
	case len(names) == 0 && wasLost:
		p.Log.Info("the machines of a cluster run again", "cluster", c.ID)
		return p.Store.MarkFound(ctx, c.Tenant, c.ID)
	case len(names) == 0:
		return nil
	case !wasLost && time.Since(since) < min(lostAfter, p.Every):
		if again := since.Add(lostAfter); again.Before(p.next) {
			p.next = again
		}
		return nil
	}
	p.account.Lost++
	if err := p.Store.MarkNodes(ctx, c.Tenant, c.ID, names, found, time.Now()); err != nil {
		return err
	}
	if !wasLost {
		app.MeterOf(p.Meter).Add(app.MetricFound, 1, metered(p.account.Provider), "lost")
		p.Log.Warn("machines are lost", "cluster", c.ID, "nodes", strings.Join(names, ", "))
	}
	return p.Store.MarkLost(ctx, c.Tenant, c.ID, app.LostWords(names))
}

// failedCluster notes which machines are gone of a cluster whose last operation did not end well, so that only ways on are offered that
// can work without them. A machine that is only stopped counts where nobody had the cluster put to sleep.
func (p *pass) failedCluster(ctx context.Context, cloud app.Provider, c app.Cluster, running map[string]bool) error {
	nodes, err := p.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	var lost, found []string
	slept, known, asked := false, false, 0
	for _, n := range nodes {
		switch {
		case n.MachineID == "" || n.Status == app.NodeDeleted:
			continue
		case running[n.MachineID]:
			if n.Lost() {
				found = append(found, n.Name)
			}
			continue
		case n.Lost():
			continue
		}
		if asked++; asked > mostLost {
			continue // the next pass finds more
		}
		m, err := cloud.Describe(ctx, n.MachineID)
		if err == nil && m.State == app.MachineStopped && !known {
			if slept, err = p.slept(ctx, c); err != nil {
				return err
			}
			known = true
		}
		switch {
		case app.CodeOf(err) == app.ENotFound, err == nil && m.State == app.MachineStopped && !slept:
			lost = append(lost, n.Name)
		case err != nil:
			return err
		}
	}
	since := p.missing(c.ID, len(lost) > 0)
	if len(lost) > 0 && time.Since(since) < min(lostAfter, p.Every) {
		lost = nil
		if again := since.Add(lostAfter); again.Before(p.next) {
			p.next = again
		}
	}
	if len(lost) > 0 {
		app.MeterOf(p.Meter).Add(app.MetricFound, 1, metered(p.account.Provider), "lost")
		p.Log.Warn("machines of a failed cluster are lost", "cluster", c.ID, "nodes", strings.Join(lost, ", "))
	}
	return p.Store.MarkNodes(ctx, c.Tenant, c.ID, lost, found, time.Now())
}

// slept tells whether machines of a failed cluster may be stopped because it was put to sleep.
func (p *pass) slept(ctx context.Context, c app.Cluster) (bool, error) {
	ops, err := p.Store.Operations(ctx, c.Tenant, c.ID)
	return app.MaySleep(ops), err
}

// missing notes whether machines of a cluster are away, and tells since when they are. What one server has seen is not kept
// for the next: it looks twice itself.
func (r *Reconciler) missing(cluster string, away bool) (since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !away {
		delete(r.missed, cluster)
		return time.Time{}
	}
	if _, known := r.missed[cluster]; !known {
		r.missed[cluster] = time.Now()
	}
	return r.missed[cluster]
}

// forget drops what was noted of clusters that are neither active nor lost any more.
func (r *Reconciler) forget(kept ...[]app.Cluster) {
	known := map[string]bool{}
	for _, c := range slices.Concat(kept...) {
		known[c.ID] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.missed, func(cluster string, _ time.Time) bool { return !known[cluster] })
}

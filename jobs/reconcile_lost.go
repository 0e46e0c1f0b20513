package jobs

import (
	"context"
	"errors"
	"strings"

	"muster/app"
)

// mostLost is how many lost nodes a message names, and after how many more of a cluster are not asked for.
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
	var errs []error
	for i, c := range append(active, lost...) {
		if c.Provider == p.account.Provider {
			errs = append(errs, p.cluster(ctx, cloud, c, i >= len(active), running))
		}
	}
	return errors.Join(errs...)
}

// cluster looks for the machines of one cluster. A list may be late or cut short, so each machine that it lacks is asked for
// by itself before it counts as lost.
func (p *pass) cluster(ctx context.Context, cloud app.Provider, c app.Cluster, wasLost bool, running map[string]bool) error {
	nodes, err := p.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	var names []string
	for _, n := range nodes {
		if n.Status != app.NodeReady || running[n.MachineID] || len(names) > mostLost {
			continue
		}
		m, err := cloud.Describe(ctx, n.MachineID)
		switch {
		case app.CodeOf(err) == app.ENotFound, err == nil && m.State == app.MachineStopped:
			names = append(names, n.Name)
		case err != nil:
			return err
		}
	}
	switch {
	case len(names) == 0 && wasLost:
		p.Log.Info("the machines of a cluster run again", "cluster", c.ID)
		return p.Store.MarkFound(ctx, c.Tenant, c.ID)
	case len(names) == 0:
		return nil
	}
	p.account.Lost++
	text := strings.Join(names[:min(len(names), mostLost)], ", ")
	if len(names) > mostLost {
		text += ", …"
	}
	if !wasLost {
		p.Log.Warn("machines are lost", "cluster", c.ID, "nodes", text)
	}
	return p.Store.MarkLost(ctx, c.Tenant, c.ID, "Lost machines: "+text+
		". The cluster counts as active again by itself once they run. Delete it to clean up what is left of it.")
}

package operation

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
	"muster/app/volume"
)

// checkVolumes refuses nodes whose volumes the provider can't make, or whose configuration says what no volume can be.
func (a *Builder) checkVolumes(ctx context.Context, d *updateBuilder, nodes []plan.Node) error {
	c, err := a.Catalogs.CatalogOf(ctx, d.Tenant)
	if err != nil {
		return err
	}
	stay := slices.DeleteFunc(slices.Clone(nodes), func(n plan.Node) bool { return n.Change == plan.NodeGone })
	planned, err := cluster.CheckVolumes(c.Providers[d.Provider], a.Volumes, stay, d.definition, nil)
	if err != nil {
		return err
	}
	d.volumes = planned
	if len(planned) > 0 {
		own, err := a.Preflight.Values.HasOwnAccount(ctx, d.Tenant, d.ID)
		if err == nil {
			err = cluster.NoVolumesOfOwn(own, planned)
		}
		if err != nil {
			return err
		}
	}
	leaves := func(n plan.Node) bool { return n.Change == plan.NodeGone || len(n.Removed) > 0 }
	if len(planned) == 0 && !slices.ContainsFunc(nodes, leaves) {
		return d.ask.Volumes.Check()
	}
	has, err := a.Store.Volumes(ctx, d.Tenant, volume.Filter{Cluster: d.ID})
	if err != nil {
		return err
	}
	if err := a.Volumes.CheckStays(c.Providers[d.Provider], planned, has, nodes); err != nil {
		return err
	}
	d.volumeCost = volume.NewCost(slices.DeleteFunc(planned, func(p volume.Planned) bool {
		return slices.ContainsFunc(has, func(v volume.Volume) bool {
			return v.Node == p.Node && v.Service == p.Service && v.Name == p.Name && (v.Cluster == d.ID || v.State == volume.StateKept)
		})
	}))
	if d.volumeCost > 0 {
		d.note("New volumes cost %s on top.", humanize.PerHour(d.volumeCost, d.Currency))
	}
	return noteVolumes(d, nodes, has)
}

// noteVolumes says what happens to the volumes of nodes and services that go.
func noteVolumes(d *updateBuilder, nodes []plan.Node, has []volume.Volume) error {
	if err := d.ask.Volumes.Check(); err != nil {
		return err
	}
	of := map[string]plan.Node{}
	for _, n := range nodes {
		of[n.Name] = n
	}
	fate := map[template.VolumeChoice][]string{}
	for _, v := range has {
		n := of[v.Node]
		if v.Cluster != d.ID || n.Change != plan.NodeGone && (n.Change != "" || !slices.Contains(n.Removed, v.Service)) {
			continue
		}
		choice := v.OnDelete
		if d.ask.Volumes != "" {
			choice = d.ask.Volumes
		}
		fate[choice] = append(fate[choice], fmt.Sprintf("%s of %s (%d GB)", v.Name, v.Node, v.SizeGB))
	}
	for _, choice := range []template.VolumeChoice{template.VolumeDelete, template.VolumeKeep} {
		if names := fate[choice]; len(names) > 0 {
			slices.Sort(names)
			d.note("%s", volumeFate(choice, names))
		}
	}
	return nil
}

// mostVolumeNames is how many volumes a note names.
const mostVolumeNames = 10

func volumeFate(choice template.VolumeChoice, names []string) string {
	what := humanize.Some(names, mostVolumeNames)
	verb, cost := "are", "cost"
	if len(names) == 1 {
		verb, cost = "is", "costs"
	}
	if choice == template.VolumeKeep {
		return fmt.Sprintf("%s of removed nodes and services %s kept for %s, and %s money until then: %s.", humanize.Count(len(names), "volume"), verb,
			humanize.Duration(volume.KeepFor), cost, what)
	}
	return fmt.Sprintf("%s of removed nodes and services %s deleted with all data: %s.", humanize.Count(len(names), "volume"), verb, what)
}

// noneWithVolumes leaves out of failed nodes those whose machines can't be kept since their volumes can't be taken off them: at a provider where volumes are
// created with the machine.
func (a *Builder) noneWithVolumes(ctx context.Context, c app.Cluster, d cluster.Definition, nodes []app.Node, failed map[string]string) error {
	published, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return err
	}
	if spec := published.Providers[c.Provider]; spec == nil || !a.Volumes.First(spec.Type) {
		return nil
	}
	for _, n := range nodes {
		if anyVolumes(d.Services, n.Services) {
			delete(failed, n.Name)
		}
	}
	return nil
}

// anyVolumes reports whether any of these services has volumes.
func anyVolumes(entries map[string]*template.Service, services []string) bool {
	return slices.ContainsFunc(services, func(s string) bool { e := entries[s]; return e != nil && len(e.Volumes) > 0 })
}

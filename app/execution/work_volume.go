package execution

import (
	"context"
	"slices"
	"sync"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/app/volume"
)

// volumesKnown remembers of an operation whether its cluster has any volumes, so that not every step asks.
type volumesKnown struct {
	mu         sync.Mutex
	known, has bool
}

// hasVolumes reports whether steps of the operation have to do with volumes: its services declare some, or the cluster has some from before.
func (oc *operationConfig) hasVolumes(ctx context.Context, a *Service, c *ClaimedStep) (bool, error) {
	for _, s := range oc.definition.Services {
		if s != nil && len(s.Volumes) > 0 {
			return true, nil
		}
	}
	k := &oc.volumes
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.known {
		has, err := a.Volumes.HasVolumes(ctx, c.Tenant, c.Cluster.ID)
		if err != nil {
			return false, err
		}
		k.known, k.has = true, has
	}
	return k.has, nil
}

// assignVolumes adds the volumes of the node. A machine that is made again is made in the zone of those that wait for it.
func (a *Service) assignVolumes(ctx context.Context, as *Assignment, c *ClaimedStep, oc *operationConfig) error {
	if as.Action == app.ActionSleep || as.Action == app.ActionWake {
		return nil
	}
	has, err := oc.hasVolumes(ctx, a, c)
	if err != nil || !has {
		return err
	}
	as.VolumesFirst = a.VolumesFirst != nil && a.VolumesFirst(as.Provider.Type)
	if as.Action != app.ActionAttach && (as.Action != app.ActionCreate || !as.VolumesFirst) {
		as.Volumes, err = a.Volumes.NodeVolumes(ctx, c.Tenant, c.Cluster.ID, c.Node.Name, c.Step.Operation)
		if as.Action == app.ActionDetach {
			as.Volumes = slices.DeleteFunc(as.Volumes, func(v volume.ForStep) bool { return v.NodeStays && slices.Contains(c.Node.Services, v.Service) })
		}
		for _, v := range as.Volumes {
			if v.Zone != "" {
				as.Machine.Zone = v.Zone
			}
		}
		if err == nil && as.Action == app.ActionCreate {
			err = a.zoneOfKept(ctx, as, c, oc)
		}
		return err
	}
	w := volume.Wanted{Tenant: c.Tenant, Provider: c.Cluster.Provider, Cluster: c.Cluster.ID, Node: c.Node.Name, Owner: c.Cluster.Owner,
		CostPerGBHour: as.Provider.VolumeCost / volume.HoursOfMonth, SnapshotPerGBHour: as.Provider.SnapshotCost / volume.HoursOfMonth, Now: a.Now()}
	if w.Volumes, err = template.VolumesOf(oc.definition.Services, c.Node.Services, oc.definition.Config); err != nil {
		return err
	}
	as.Volumes, err = a.Volumes.WantVolumes(ctx, w)
	return err
}

// zoneOfKept has a new machine made in the zone of the kept volumes that its node takes back once it's there.
func (a *Service) zoneOfKept(ctx context.Context, as *Assignment, c *ClaimedStep, oc *operationConfig) error {
	wanted, err := template.VolumesOf(oc.definition.Services, c.Node.Services, oc.definition.Config)
	if err != nil || len(wanted) == 0 {
		return err
	}
	kept, err := a.Volumes.KeptVolumes(ctx, c.Tenant, c.Cluster.ID, c.Node.Name)
	for _, v := range kept {
		takes := func(w template.NodeVolume) bool { return w.Service == v.Service && w.Name == v.Name }
		has := func(x volume.ForStep) bool { return x.Service == v.Service && x.Name == v.Name }
		if v.Zone != "" && slices.ContainsFunc(wanted, takes) && !slices.ContainsFunc(as.Volumes, has) {
			as.Machine.Zone = v.Zone
			break
		}
	}
	return err
}

// VolumeTags are the tags of a node's volume: those of its machine, but with the volume's own intent.
func VolumeTags(machine map[string]string, id string) map[string]string {
	tags := map[string]string{family.TagIntent: id}
	for _, k := range []string{family.TagInstallation, family.TagTenant, family.TagCluster, family.TagNode} {
		tags[k] = machine[k]
	}
	return tags
}

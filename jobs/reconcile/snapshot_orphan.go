package reconcile

import (
	"context"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/volume"
)

// sortSnapshots finds the orphaned snapshots: those of ours that no row owns.
func (p *pass) sortSnapshots(ctx context.Context, cloud family.Provider) (orphans []fleet.Orphan, err error) {
	power, ok := family.PowerOf[family.VolumeSnapshots](cloud)
	if !ok || p.Snapshots == nil || p.own != "" { // accounts of single clusters have no volumes of ours
		return nil, nil
	}
	list, err := power.ListSnapshots(ctx, map[string]string{family.TagInstallation: p.Installation})
	if code := app.CodeOf(err); code == app.ECredentials || code == app.EInvalid { // as with volumes
		p.Log.Debug("snapshots can't be listed", "provider", p.name, "error", err)
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids, there := make([]string, len(list)), map[string]bool{}
	for i, x := range list {
		ids[i], there[x.ID] = x.Tags[family.TagIntent], !x.Failed
	}
	known, err := p.Snapshots.SnapshotIntents(ctx, p.name, ids)
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		row, owned := known[x.Tags[family.TagIntent]]
		kind := orphanedSnapshot(x, row, owned, there)
		if kind == "" {
			continue
		}
		orphans = append(orphans, fleet.Orphan{ID: fleet.OrphanID(p.account.Provider, "snapshot:"+x.ID),
			Provider: p.account.Provider, Machine: x.ID, Resource: fleet.ResourceSnapshot, Hostname: row.Name,
			Tenant: x.Tags[family.TagTenant], Cluster: x.Tags[family.TagCluster], Node: x.Tags[family.TagNode],
			Intent: x.Tags[family.TagIntent], Kind: kind, CreatedAt: x.CreatedAt})
	}
	return orphans, nil
}

// orphanedSnapshot returns why a snapshot is an orphan; "" where its row wants it, or will see to it. There are those of
// the account that are whole.
func orphanedSnapshot(x family.Snapshot, row volume.Snapshot, owned bool, there map[string]bool) fleet.OrphanKind {
	switch {
	case !owned:
		return fleet.OrphanUnknown
	case row.State == volume.SnapshotDeleted:
		return fleet.OrphanEnded
	case row.State == volume.SnapshotReady && row.External != x.ID && there[row.External]:
		return fleet.OrphanDuplicate
	}
	return ""
}

// removeSnapshot deletes an orphaned snapshot, after one more look at the ledger.
func (p *pass) removeSnapshot(ctx context.Context, cloud family.Provider, o fleet.Orphan) error {
	power, ok := family.PowerOf[family.VolumeSnapshots](cloud)
	if !ok {
		return nil
	}
	known, err := p.Snapshots.SnapshotIntents(ctx, p.name, []string{o.Intent})
	if err != nil {
		return err
	}
	row, owned := known[o.Intent]
	if owned && row.State != volume.SnapshotDeleted && (row.External == "" || row.External == o.Machine) {
		return nil
	}
	if err := power.DeleteSnapshot(ctx, o.Machine); err != nil {
		return p.failedToRemove(ctx, o, err)
	}
	p.account.Deleted++
	p.account.Orphans--
	p.Log.Warn("orphaned snapshot deleted", "provider", o.Provider, "snapshot", o.Machine, "cluster", o.Cluster,
		"node", o.Node, "kind", o.Kind, "ordered by", o.Decided)
	return p.Orphans.OrphanDeleted(ctx, o.ID, time.Now(), "")
}

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/volume"
	"muster/jobs/internal/loop"
)

// volumesAtOnce is how many volumes are deleted in one go.
const volumesAtOnce = 200

// beginVolumes deletes, account by account, kept volumes that someone has deleted or that have expired. Several servers may do the same: what is gone
// is gone for all of them.
func (r *Reconciler) beginVolumes(ctx context.Context) error {
	if r.Volumes == nil {
		return nil
	}
	if err := r.Volumes.NotifyExpiring(ctx, time.Now(), volumesAtOnce); err != nil {
		return err
	}
	due, err := r.Volumes.DueVolumes(ctx, time.Now(), volumesAtOnce)
	if err != nil {
		return err
	}
	perAccount(ctx, r, "Deleting volumes", fleet.ProofGap, due, func(x volume.Volume) (tenant, provider string) { return x.Tenant, x.Provider }, r.deleteVolumes)
	return nil
}

func (r *Reconciler) deleteVolumes(ctx context.Context, in inAccount, volumes []volume.Volume) error {
	cloud, err := r.openFor(ctx, in)
	account := in.name
	var disks family.Volumes
	if err == nil {
		var ok bool
		if disks, ok = family.PowerOf[family.Volumes](cloud); !ok {
			err = app.Errorf(app.EInvalid, "provider %s doesn't make volumes any more", account)
		}
	}
	var errs []error
	for _, v := range volumes {
		if v.State == volume.StateKept {
			expired, err := r.Volumes.ExpireVolume(ctx, v.ID, time.Now())
			if err != nil {
				return err
			}
			if !expired {
				continue
			}
		}
		proof, failed := "", err
		if failed == nil {
			proof, failed = r.deleteVolume(ctx, cloud, disks, account, v)
		}
		failure := ""
		if failed != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failure = app.AsError(failed).ForPeople()
			errs = append(errs, fmt.Errorf("volume %s: %w", v.ID, failed))
		}
		if err := r.Volumes.VolumeGone(ctx, v.ID, time.Now(), proof, failure); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// deleteVolume deletes all that carries the volume's intent, and proves with a list that nothing does any more. One that a machine has stays.
func (r *Reconciler) deleteVolume(ctx context.Context, cloud family.Provider, disks family.Volumes, account string, v volume.Volume) (proof string,
	err error) {
	tags := map[string]string{family.TagInstallation: r.Installation, family.TagIntent: v.ID}
	for look := 1; ; look++ {
		list, err := disks.ListVolumes(ctx, tags)
		if err != nil {
			return "", err
		}
		late := family.ListsLate(cloud)
		if len(list) == 0 && (late == 0 || look > 1) {
			r.Log.Info("volume deleted", "provider", account, "volume", v.ID)
			return fmt.Sprintf("Account %s was queried for volumes tagged %s=%s and listed none.", account, family.TagIntent, v.ID), nil
		}
		if look > 3 {
			return "", app.Errorf(app.ETransient, "account %s still lists volume %s after its deletion", account, list[0].ID)
		}
		for _, x := range list {
			if err := disks.DeleteVolume(ctx, x.ID); err != nil {
				return "", err
			}
		}
		if err := loop.Pause(ctx, max(late, 100*time.Millisecond)); err != nil {
			return "", err
		}
	}
}

// sortVolumes finds the orphaned volumes: those of ours that no row owns. What someone forgot, or no one ever heard of, is for a person to decide.
func (p *pass) sortVolumes(ctx context.Context, cloud family.Provider) (orphans []fleet.Orphan, err error) {
	disks, ok := family.PowerOf[family.Volumes](cloud)
	if !ok || p.Volumes == nil || p.own != "" { // accounts of single clusters have no volumes of ours
		return nil, nil
	}
	list, err := disks.ListVolumes(ctx, map[string]string{family.TagInstallation: p.Installation})
	if code := app.CodeOf(err); code == app.ECredentials || code == app.EInvalid { // not allowed, or no such service: its check says so
		p.Log.Debug("volumes can't be listed", "provider", p.name, "error", err)
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, v := range list {
		ids[i] = v.Tags[family.TagIntent]
	}
	known, err := p.Volumes.VolumeIntents(ctx, p.name, ids)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, v := range list {
		there[v.ID] = true
	}
	for _, v := range list {
		row, owned := known[v.Tags[family.TagIntent]]
		kind := fleet.OrphanUnknown
		switch {
		case !owned, row.State == volume.StateForgotten:
		case row.State == volume.StateDeleted:
			kind = fleet.OrphanEnded
		case row.External != "" && row.External != v.ID && there[row.External]:
			kind = fleet.OrphanDuplicate
		default:
			continue
		}
		tags := v.Tags
		orphans = append(orphans, fleet.Orphan{ID: fleet.OrphanID(p.account.Provider, "volume:"+v.ID), Provider: p.account.Provider, Machine: v.ID,
			Resource: fleet.ResourceVolume,
			Hostname: v.Name, Zone: v.Zone, Tenant: tags[family.TagTenant], Cluster: tags[family.TagCluster], Node: tags[family.TagNode],
			Intent: tags[family.TagIntent],
			Kind:   kind, CreatedAt: v.CreatedAt, Price: row.Price})
	}
	return orphans, nil
}

// removeVolume deletes an orphaned volume that no machine has, after one more look at the ledger.
func (p *pass) removeVolume(ctx context.Context, cloud family.Provider, o fleet.Orphan) error {
	disks, ok := family.PowerOf[family.Volumes](cloud)
	if !ok {
		return nil
	}
	known, err := p.Volumes.VolumeIntents(ctx, p.name, []string{o.Intent})
	if err != nil {
		return err
	}
	row, owned := known[o.Intent]
	ended := row.State == volume.StateDeleted || row.State == volume.StateForgotten
	if owned && !ended && (row.External == "" || row.External == o.Machine) {
		return nil
	}
	if err := disks.DeleteVolume(ctx, o.Machine); err != nil {
		return p.failedToRemove(ctx, o, err)
	}
	p.account.Deleted++
	p.account.Orphans--
	p.Log.Warn("orphaned volume deleted", "provider", o.Provider, "volume", o.Machine, "cluster", o.Cluster, "node", o.Node, "kind", o.Kind,
		"ordered by", o.Decided)
	return p.Orphans.OrphanDeleted(ctx, o.ID, time.Now(), "")
}

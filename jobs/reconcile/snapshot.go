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

// beginSnapshots creates and deletes snapshots of volumes, account by account. Several servers may do the same: a provider makes one for each intent.
func (r *Reconciler) beginSnapshots(ctx context.Context) error {
	if r.Snapshots == nil {
		return nil
	}
	if err := r.Snapshots.ScheduleSnapshots(ctx, time.Now(), volumesAtOnce); err != nil {
		return err
	}
	due, err := r.Snapshots.DueSnapshots(ctx, volumesAtOnce)
	if err != nil {
		return err
	}
	perAccount(ctx, r, "Snapshots", fleet.ProofGap, due, func(x volume.Snapshot) (tenant, provider string) { return x.Tenant, x.Provider }, r.snapshots)
	return nil
}

func (r *Reconciler) snapshots(ctx context.Context, in inAccount, list []volume.Snapshot) error {
	cloud, err := r.openFor(ctx, in)
	account := in.name
	var power family.VolumeSnapshots
	if err == nil {
		var ok bool
		if power, ok = family.PowerOf[family.VolumeSnapshots](cloud); !ok {
			err = app.Errorf(app.EInvalid, "provider %s doesn't make snapshots of volumes", account)
		}
	}
	var errs []error
	for _, s := range list {
		external, proof, failed := "", "", err
		switch {
		case failed != nil:
		case s.State == volume.SnapshotCreating:
			external, failed = r.makeSnapshot(ctx, power, s)
		default:
			proof, failed = r.deleteSnapshot(ctx, cloud, power, account, s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failure := ""
		if failed != nil {
			failure = app.AsError(failed).ForPeople()
			errs = append(errs, fmt.Errorf("snapshot %s: %w", s.ID, failed))
		}
		write := func() error { return r.Snapshots.SnapshotGone(ctx, s.ID, time.Now(), proof, failure) }
		if s.State == volume.SnapshotCreating {
			write = func() error { return r.Snapshots.SnapshotMade(ctx, s.ID, external, failure) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

func (r *Reconciler) snapshotTags(s volume.Snapshot) map[string]string {
	return map[string]string{family.TagInstallation: r.Installation, family.TagIntent: s.ID}
}

// makeSnapshot looks first whether an attempt before has made it.
func (r *Reconciler) makeSnapshot(ctx context.Context, power family.VolumeSnapshots, s volume.Snapshot) (string, error) {
	tags := r.snapshotTags(s)
	found, err := power.ListSnapshots(ctx, tags)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return found[0].ID, nil
	}
	tags[family.TagTenant], tags[family.TagCluster], tags[family.TagNode] = s.Tenant, s.Cluster, s.Node
	made, err := power.CreateSnapshot(ctx, family.SnapshotSpec{Intent: s.ID, Name: "muster-" + s.ID, Volume: s.Of, Tags: tags})
	return made.ID, err
}

// deleteSnapshot deletes all that carries the snapshot's intent, and proves with a list that nothing does any more.
func (r *Reconciler) deleteSnapshot(ctx context.Context, cloud family.Provider, power family.VolumeSnapshots, account string,
	s volume.Snapshot) (proof string, err error) {
	late := family.ListsLate(cloud)
	for look := 1; ; look++ {
		list, err := power.ListSnapshots(ctx, r.snapshotTags(s))
		if err != nil {
			return "", err
		}
		if len(list) == 0 && (late == 0 || look > 1) {
			return fmt.Sprintf("Account %s was queried for snapshots tagged %s=%s and listed none.", account, family.TagIntent, s.ID), nil
		}
		if look > 3 {
			return "", app.Errorf(app.ETransient, "account %s still lists snapshot %s after its deletion", account, s.ID)
		}
		for _, x := range list {
			if err := power.DeleteSnapshot(ctx, x.ID); err != nil {
				return "", err
			}
		}
		if err := loop.Pause(ctx, max(late, 100*time.Millisecond)); err != nil {
			return "", err
		}
	}
}

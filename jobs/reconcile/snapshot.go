package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	at := &snapshotAccount{r, cloud, power, account}
	var errs []error
	copying := false
	for _, s := range list {
		failed := err
		if failed == nil && s.State == volume.SnapshotCreating {
			failed = at.create(ctx, s)
		} else if failed == nil {
			failed = at.delete(ctx, s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed == errStillCopying { //nolint:errorlint // it's never wrapped
			copying = true
			if err := r.Snapshots.SnapshotLooked(ctx, s.ID); err != nil {
				return err
			}
			continue
		}
		if failed == nil {
			continue
		}
		errs = append(errs, fmt.Errorf("snapshot %s: %w", s.ID, failed))
		if err := r.snapshotFailed(ctx, s, app.AsError(failed).ForPeople()); err != nil {
			return err
		}
	}
	if len(errs) == 0 && copying {
		return errStillCopying
	}
	return errors.Join(errs...)
}

// snapshotFailed writes down why a snapshot couldn't be created or deleted yet.
func (r *Reconciler) snapshotFailed(ctx context.Context, s volume.Snapshot, why string) error {
	if s.State != volume.SnapshotCreating {
		return r.Snapshots.SnapshotGone(ctx, s.ID, time.Now(), "", why)
	}
	_, err := r.Snapshots.SnapshotMade(ctx, s.ID, "", why)
	return err
}

// snapshotAccount is an account that makes snapshots.
type snapshotAccount struct {
	*Reconciler
	cloud family.Provider
	power family.VolumeSnapshots
	name  string
}

// create makes a snapshot. One that its cloud still copies is looked at again next time. One that isn't wanted any
// more by now is deleted: anyone who deleted its row may have looked for it before it was there.
func (a *snapshotAccount) create(ctx context.Context, s volume.Snapshot) error {
	made, more, err := a.make(ctx, s)
	if err != nil {
		return err
	}
	if made.Pending {
		return errStillCopying
	}
	held, err := a.Snapshots.SnapshotMade(ctx, s.ID, made.ID, "")
	if err != nil {
		return err
	}
	if held {
		for _, x := range more { // of other servers, which asked at the same time
			if err := a.power.DeleteSnapshot(ctx, x.ID); err != nil {
				a.Log.Warn("a duplicate snapshot couldn't be deleted", "provider", a.name, "snapshot", x.ID, "error", err)
			}
		}
		return nil
	}
	rows, err := a.Snapshots.SnapshotIntents(ctx, s.Provider, []string{s.ID})
	if err != nil {
		return err
	}
	switch row := rows[s.ID]; {
	case row.State != volume.SnapshotReady:
		return a.delete(ctx, s)
	case row.External != made.ID:
		return a.power.DeleteSnapshot(ctx, made.ID) // another server was faster
	}
	return nil
}

// delete deletes a snapshot and writes down the proof.
func (a *snapshotAccount) delete(ctx context.Context, s volume.Snapshot) error {
	proof, err := a.deleteSnapshot(ctx, a.cloud, a.power, a.name, s)
	if err != nil {
		return err
	}
	return a.Snapshots.SnapshotGone(ctx, s.ID, time.Now(), proof, "")
}

func (r *Reconciler) snapshotTags(s volume.Snapshot) map[string]string {
	return map[string]string{family.TagInstallation: r.Installation, family.TagIntent: s.ID}
}

// make returns the snapshot, and other copies of the same intent. It looks first whether an attempt before has made it: its volume need not be there any more. Where lists are late
// it looks twice.
func (a *snapshotAccount) make(ctx context.Context, s volume.Snapshot) (made family.Snapshot, more []family.Snapshot, err error) {
	tags := a.snapshotTags(s)
	for late := family.ListsLate(a.cloud); ; late = 0 {
		found, err := a.power.ListSnapshots(ctx, tags)
		if err != nil {
			return made, nil, err
		}
		found = slices.DeleteFunc(found, func(x family.Snapshot) bool { return x.Failed })
		if len(found) > 0 {
			slices.SortFunc(found, older)
			return found[0], found[1:], nil
		}
		if late == 0 {
			break
		}
		if err := loop.Pause(ctx, late); err != nil {
			return made, nil, err
		}
	}
	tags[family.TagTenant], tags[family.TagCluster], tags[family.TagNode] = s.Tenant, s.Cluster, s.Node
	made, err = a.power.CreateSnapshot(ctx, family.SnapshotSpec{Intent: s.ID, Name: "muster-" + s.ID, Volume: s.Of, Tags: tags})
	return made, nil, err
}

// older orders snapshots of one intent: whole ones come first, and then the oldest.
func older(a, b family.Snapshot) int {
	if a.Pending != b.Pending {
		return map[bool]int{false: -1, true: 1}[a.Pending]
	}
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
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

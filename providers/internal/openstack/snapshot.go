package openstack

import (
	"context"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// metaSnapshot is metadata of a volume that is a snapshot to us. It is a clone: Cinder's own snapshots keep their volume
// from being deleted, and ours outlive it. Back ends that clone by reference, such as Ceph, take no room for it.
const metaSnapshot = "muster-snapshot"

// copyLook is how long one call waits for a copy. The next call waits on.
const copyLook = 10 * time.Second

// What the status of a volume is that can be read.
const statusFree, statusUsed = "available", "in-use"

func snapshotOf(v family.Volume, status string) family.Snapshot {
	return family.Snapshot{ID: v.ID, SizeGB: v.SizeGB, Tags: v.Tags, CreatedAt: v.CreatedAt, Failed: v.Failed,
		Pending: !v.Failed && status != statusFree && status != statusUsed}
}

// ListSnapshots returns the snapshots that carry all of the tags.
func ListSnapshots(ctx context.Context, s *Session, tags map[string]string) ([]family.Snapshot, error) {
	if err := s.Needs("volume", s.Volume); err != nil {
		return nil, err
	}
	all, err := allVolumes(ctx, s, tags)
	out := []family.Snapshot{}
	for _, v := range all {
		if v.Metadata[metaSnapshot] != "" {
			out = append(out, snapshotOf(volumeOf(&v), v.Status))
		}
	}
	return out, err
}

// EnsureSnapshot makes a snapshot of a volume, or finds the one of the same intent.
func EnsureSnapshot(ctx context.Context, s *Session, p Pace, recent *account.Asked, spec family.SnapshotSpec) (family.Snapshot, error) {
	look := p
	look.Patience = min(p.Patience, copyLook)
	v, err := ensureVolume(ctx, s, look, recent, family.VolumeSpec{Intent: spec.Intent, Name: spec.Name, Tags: spec.Tags},
		func(o *volumes.CreateOpts) error {
			of, err := getVolume(ctx, s, spec.Volume)
			switch {
			case err != nil:
				return err
			case of.Status == "error":
				return odd(of)
			case of.Status != statusFree && of.Status != statusUsed:
				return app.Errorf(app.ETransient, "volume %s is %s now, so it can't be copied", of.ID, of.Status)
			}
			o.SourceVolID, o.Size = of.ID, of.Size
			o.Metadata[metaSnapshot] = "true"
			if zone := of.Metadata[metaZone]; zone != "" {
				o.Metadata[metaZone] = zone
			}
			return nil
		})
	switch code := app.CodeOf(err); {
	case code == app.ETimeout:
		return standingCopy(ctx, s, spec)
	case code == app.ECapacity: // it was deleted
		return family.Snapshot{}, &app.Error{Code: app.ETransient, Message: "the cloud failed to copy volume " + spec.Volume}
	case err != nil:
		return family.Snapshot{}, err
	case v.Failed: // by an attempt before
		if err := DeleteVolume(ctx, s, p, v.ID); err != nil {
			return family.Snapshot{}, err
		}
		recent.Forget(spec.Tags[family.TagInstallation] + "\x00" + spec.Intent)
		return family.Snapshot{}, app.Errorf(app.ETransient, "the cloud failed to copy volume %s", spec.Volume)
	}
	return snapshotOf(v, statusFree), nil
}

// standingCopy returns a snapshot that Cinder still copies.
func standingCopy(ctx context.Context, s *Session, spec family.SnapshotSpec) (family.Snapshot, error) {
	found, err := ListSnapshots(ctx, s, map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation],
		family.TagIntent: spec.Intent})
	if err != nil {
		return family.Snapshot{}, err
	}
	if len(found) == 0 {
		return family.Snapshot{}, app.Errorf(app.ETransient, "volume %s is being copied", spec.Volume)
	}
	return found[0], nil
}

// EnsureVolumeFrom is EnsureVolume, with the content of a snapshot. Its type is the snapshot's: Cinder changes it only
// between types that are alike.
func EnsureVolumeFrom(ctx context.Context, s *Session, p Pace, recent *account.Asked, spec family.VolumeSpec,
	snapshot string) (family.Volume, error) {
	v, err := ensureVolume(ctx, s, p, recent, spec, func(o *volumes.CreateOpts) error {
		of, err := getVolume(ctx, s, snapshot)
		switch {
		case err != nil && !Absent(err):
			return err
		case err != nil, of.Metadata[metaSnapshot] == "":
			return app.Errorf(app.ENotFound, "snapshot %q doesn't exist", snapshot)
		case of.Status == "creating":
			return app.Errorf(app.ETransient, "snapshot %s is still being copied", snapshot)
		case of.Status != "available":
			return odd(of)
		}
		o.SourceVolID, o.Size = of.ID, max(spec.SizeGB, of.Size)
		if zone := of.Metadata[metaZone]; zone != "" { // Cinder keeps copies there
			if spec.Zone != "" && spec.Zone != zone {
				return inAnotherZone(snapshot, zone, spec.Zone)
			}
			o.Metadata[metaZone] = zone
		}
		return nil
	})
	return v, err
}

// inAnotherZone refuses what Cinder does: copies stay in the zone of what they are made of.
func inAnotherZone(snapshot, has, wanted string) error {
	e := app.Errorf(app.EInvalid, "snapshot %s is in zone %s, and the machine in %s", snapshot, has, wanted)
	e.Hint = "Create the cluster in zone " + has + "."
	return e
}

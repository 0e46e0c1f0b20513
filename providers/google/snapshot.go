package google

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
)

var (
	_ family.VolumeSnapshots = (*Provider)(nil)
	_ family.VolumeGetter    = (*Provider)(nil)
)

// snapshotPermissions are what the service account needs beside, for snapshots of volumes.
var snapshotPermissions = []string{
	"compute.disks.createSnapshot", "compute.snapshots.create", "compute.snapshots.delete", "compute.snapshots.get",
	"compute.snapshots.list", "compute.snapshots.setLabels", "compute.snapshots.useReadOnly",
}

// snapshotLook is how long one call waits for a copy. The next call waits on.
const snapshotLook = 10 * time.Second

func noSnapshot(id string) error { return app.Errorf(app.ENotFound, "snapshot %q doesn't exist", id) }

func snapshotOf(x *gcp.Snapshot) family.Snapshot {
	out := family.Snapshot{ID: x.Name, SizeGB: int(x.DiskSizeGB), CreatedAt: when(x.CreationTimestamp), Failed: x.Status == "FAILED"}
	if json.Unmarshal([]byte(x.Description), &out.Tags) != nil || out.Tags == nil {
		out.Tags = maps.Clone(x.Labels)
		delete(out.Tags, labelVolume)
	}
	out.Pending = !out.Failed && x.Status != "READY"
	return out
}

// snapshotName is unique for an intent: the project refuses a second snapshot for it.
func snapshotName(spec family.SnapshotSpec) string {
	hash := digest("snapshot", spec.Tags[family.TagInstallation], spec.Intent)[:12]
	name := account.Name(spec.Name)
	if name[0] < 'a' {
		name = "s" + name
	}
	return strings.TrimRight(name[:min(len(name), 62-len(hash))], "-") + "-" + hash
}

// ListSnapshots returns those that carry all of the tags.
func (vs *disks) ListSnapshots(ctx context.Context, tags map[string]string) ([]family.Snapshot, error) {
	filter := `(labels.` + labelVolume + ` = "true")`
	if f := filterOf(tags); strings.HasPrefix(f, "(") {
		filter = f + " AND " + filter
	}
	out := []family.Snapshot{}
	err := vs.p.api.Snapshots(ctx, vs.p.project, filter, func(page *gcp.SnapshotList) error {
		if w := page.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
			return unreachable(w.Message)
		}
		for _, x := range page.Items {
			if s := snapshotOf(x); x.Labels[labelVolume] != "" && carries(s.Tags, tags) {
				out = append(out, s)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b family.Snapshot) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, coded(err)
}

// snapshot returns one; ENotFound where there is none.
func (vs *disks) snapshot(ctx context.Context, id string) (*gcp.Snapshot, error) {
	if !nameForm.MatchString(id) {
		return nil, cmp.Or(ctx.Err(), noSnapshot(id))
	}
	x, err := vs.p.api.Snapshot(ctx, vs.p.project, id)
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil, noSnapshot(id)
	}
	return x, err
}

// CreateSnapshot makes the snapshot, or returns the intent's existing one: its name follows from the intent.
func (vs *disks) CreateSnapshot(ctx context.Context, spec family.SnapshotSpec) (family.Snapshot, error) {
	description, err := json.Marshal(spec.Tags)
	if err != nil || len(description) > longestDescription {
		return family.Snapshot{}, app.Errorf(app.EInvalid, "the tags of snapshot %s exceed %d characters", spec.Name, longestDescription)
	}
	x := &gcp.Snapshot{Name: snapshotName(spec), Description: string(description), Labels: labelsOf(spec.Tags)}
	x.Labels[labelVolume] = "true"
	switch _, err := vs.snapshot(ctx, x.Name); {
	case err == nil:
		return vs.copied(ctx, x.Name, spec)
	case app.CodeOf(err) != app.ENotFound:
		return family.Snapshot{}, err
	}
	disk, err := vs.volume(ctx, spec.Volume)
	if err != nil {
		return family.Snapshot{}, err
	}
	if err := vs.insertSnapshot(ctx, disk, x, spec); err != nil {
		return family.Snapshot{}, err
	}
	return vs.copied(ctx, x.Name, spec)
}

// insertSnapshot begins to copy a disk. It doesn't wait for the operation, which lasts as long as the copy.
func (vs *disks) insertSnapshot(ctx context.Context, disk *gcp.Disk, x *gcp.Snapshot, spec family.SnapshotSpec) error {
	zone := base(disk.Zone)
	id := requestID("snapshot", spec.Tags[family.TagInstallation], spec.Intent)
	op, err := vs.p.api.InsertSnapshot(ctx, vs.p.project, zone, disk.Name, x, id)
	if err == nil && op.Status == "DONE" { // of an attempt before, whose snapshot failed or was deleted
		if _, err := vs.snapshot(ctx, x.Name); app.CodeOf(err) != app.ENotFound {
			return err
		}
		op, err = vs.p.api.InsertSnapshot(ctx, vs.p.project, zone, disk.Name, x, freshID())
	}
	err = coded(err)
	if err == nil && op.Status == "DONE" {
		err = vs.p.await(ctx, vs.p.project, op)
	}
	if app.CodeOf(err) == app.EConflict { // another call made it at the same time
		return nil
	}
	return err
}

// copied waits a little until a snapshot is whole. One that failed is deleted; the next call makes it again.
func (vs *disks) copied(ctx context.Context, name string, spec family.SnapshotSpec) (family.Snapshot, error) {
	for end := time.Now().Add(snapshotLook); ; {
		x, err := vs.snapshot(ctx, name)
		if app.CodeOf(err) == app.ENotFound {
			return family.Snapshot{}, app.Errorf(app.ETransient, "snapshot %s was requested but doesn't exist yet", name)
		}
		if err != nil {
			return family.Snapshot{}, err
		}
		out := snapshotOf(x)
		switch {
		case out.Tags[family.TagIntent] != spec.Intent:
			return out, app.Errorf(app.EConflict, "snapshot %s already exists and isn't Muster's", name)
		case out.Failed:
			if err := vs.DeleteSnapshot(ctx, name); err != nil {
				return out, err
			}
			return out, app.Errorf(app.ETransient, "the cloud failed to create snapshot %s", name)
		case !out.Pending || time.Now().After(end):
			return out, nil
		}
		if err := pause(ctx, vs.p.pauses.machine); err != nil {
			return out, err
		}
	}
}

// DeleteSnapshot deletes a snapshot, and returns when it is gone.
func (vs *disks) DeleteSnapshot(ctx context.Context, id string) error {
	if _, err := vs.snapshot(ctx, id); err != nil {
		if app.CodeOf(err) == app.ENotFound {
			return nil
		}
		return err
	}
	op, err := vs.p.api.DeleteSnapshot(ctx, vs.p.project, id, freshID())
	if err == nil {
		err = vs.p.await(ctx, vs.p.project, op)
	}
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}

// CreateVolumeFrom makes a disk of a snapshot, in any zone.
func (vs *disks) CreateVolumeFrom(ctx context.Context, spec family.VolumeSpec, snapshot string) (family.Volume, error) {
	return vs.ensureVolume(ctx, spec, func(d *gcp.Disk) error {
		x, err := vs.snapshot(ctx, snapshot)
		if err != nil {
			return err
		}
		switch s := snapshotOf(x); {
		case s.Failed:
			return app.Errorf(app.EConflict, "snapshot %s is in state failed", snapshot)
		case s.Pending:
			return app.Errorf(app.ETransient, "snapshot %s isn't complete yet", snapshot)
		}
		d.SourceSnapshot, d.SizeGB = "projects/"+vs.p.project+"/global/snapshots/"+x.Name, max(d.SizeGB, x.DiskSizeGB)
		return nil
	})
}

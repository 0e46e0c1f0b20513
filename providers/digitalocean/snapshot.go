package digitalocean

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

var (
	_ family.VolumeSnapshots = (*cloud)(nil)
	_ family.VolumeGetter    = (*cloud)(nil)
)

// copies makes snapshots of volumes.
type copies struct {
	c     *cloud
	asked account.Asked
}

// Scopes for snapshots of volumes.
const (
	scopeSnapshot       = "snapshot:read"
	scopeMakeSnapshot   = "block_storage_snapshot:create"
	scopeDeleteSnapshot = "snapshot:delete"
)

// snapshotOf returns a snapshot in the family's words. Its tags are written as a droplet's: it has no description.
func snapshotOf(x *godo.Snapshot) family.Snapshot {
	made, _ := time.Parse(time.RFC3339, x.Created)
	return family.Snapshot{ID: x.ID, SizeGB: max(x.MinDiskSize, 1), Tags: readCard(x.Tags).tags, CreatedAt: made.UTC()}
}

// ListSnapshots returns those that carry all of the tags.
func (cs *copies) ListSnapshots(ctx context.Context, tags map[string]string) ([]family.Snapshot, error) {
	all, err := pages(ctx, scopeSnapshot, cs.c.api.Snapshots.ListVolume)
	if err != nil {
		return nil, err
	}
	out := make([]family.Snapshot, 0, len(all))
	for i := range all {
		if x := snapshotOf(&all[i]); x.Tags[family.TagInstallation] != "" && carries(x.Tags, tags) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b family.Snapshot) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// snapshot returns one; ENotFound for an id that none has.
func (cs *copies) snapshot(ctx context.Context, id string) (*godo.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	none := app.Errorf(app.ENotFound, "Snapshot %q doesn't exist.", id)
	if !uuidForm.MatchString(id) {
		return nil, none
	}
	x, _, err := cs.c.api.Storage.GetSnapshot(ctx, id)
	if err = failure(scopeSnapshot, err); absent(err) {
		return nil, none
	}
	return x, err
}

// CreateSnapshot makes a snapshot, or returns the intent's existing one. Names aren't unique, so what lists lack yet is
// remembered. DigitalOcean answers once the snapshot is whole.
func (cs *copies) CreateSnapshot(ctx context.Context, spec family.SnapshotSpec) (family.Snapshot, error) {
	tags, err := card{tags: spec.Tags}.write()
	if err != nil {
		return family.Snapshot{}, err
	}
	release, err := cs.c.locks.Lock(ctx, "snapshot "+spec.Intent)
	if err != nil {
		return family.Snapshot{}, err
	}
	defer release()
	key := intentKey(spec.Tags)
	has, err := cs.standingSnapshot(ctx, key, spec)
	if err != nil {
		return family.Snapshot{}, err
	}
	if has != nil {
		return *has, nil
	}
	if _, err := cs.c.volume(ctx, spec.Volume); err != nil {
		return family.Snapshot{}, err
	}
	x, _, err := cs.c.api.Storage.CreateSnapshot(ctx, &godo.SnapshotCreateRequest{VolumeID: spec.Volume, Name: spec.Name, Tags: tags})
	if err = failure(scopeMakeSnapshot, err); err != nil {
		cs.asked.Keep(key, "", err, cs.c.timing.late)
		return family.Snapshot{}, err
	}
	cs.asked.Keep(key, x.ID, nil, cs.c.timing.late)
	return snapshotOf(x), nil
}

// standingSnapshot returns the intent's snapshot; nil where there is none.
func (cs *copies) standingSnapshot(ctx context.Context, key string, spec family.SnapshotSpec) (*family.Snapshot, error) {
	wanted := map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagIntent: spec.Intent}
	find := func() (*family.Snapshot, error) {
		found, err := cs.ListSnapshots(ctx, wanted)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	}
	get := func(id string) (*family.Snapshot, error) {
		x, err := cs.snapshot(ctx, id)
		if app.CodeOf(err) == app.ENotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out := snapshotOf(x)
		return &out, nil
	}
	return account.Standing(ctx, &cs.asked, key, cs.c.timing.late, find, get)
}

// DeleteSnapshot deletes a snapshot, and the tags that it alone carried.
func (cs *copies) DeleteSnapshot(ctx context.Context, id string) error {
	x, err := cs.snapshot(ctx, id)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = cs.c.api.Storage.DeleteSnapshot(ctx, id)
	if err = failure(scopeDeleteSnapshot, err); err != nil && !absent(err) {
		return err
	}
	for _, t := range ownTags(x.Tags) {
		if _, err := cs.c.api.Tags.Delete(ctx, t); err != nil {
			break
		}
	}
	return nil //nolint:nilerr // the snapshot is deleted; a tag without one does no harm
}

// CreateVolumeFrom makes a volume of a snapshot, which has to be in its region.
func (cs *copies) CreateVolumeFrom(ctx context.Context, spec family.VolumeSpec, snapshot string) (family.Volume, error) {
	return cs.c.ensureVolume(ctx, spec, func(o *godo.VolumeCreateRequest) error {
		x, err := cs.snapshot(ctx, snapshot)
		if err != nil {
			return err
		}
		if !slices.Contains(x.Regions, o.Region) {
			e := app.Errorf(app.EInvalid, "Snapshot %s is in region %s, and the machine in %s.", x.Name, strings.Join(x.Regions, ", "), o.Region)
			e.Hint = "Create the cluster in the snapshot's region."
			return e
		}
		o.SnapshotID, o.SizeGigaBytes = x.ID, max(o.SizeGigaBytes, int64(x.MinDiskSize))
		return nil
	})
}

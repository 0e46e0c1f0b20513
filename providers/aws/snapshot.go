package aws

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
)

var (
	_ appfamily.VolumeSnapshots = (*cloud)(nil)
	_ appfamily.VolumeGetter    = (*cloud)(nil)
)

var snapshotForm = regexp.MustCompile(`^snap-[0-9a-f]{8,17}$`)

const reasonNoSnapshot = "InvalidSnapshot.NotFound"

func snapshotOf(x types.Snapshot) appfamily.Snapshot {
	out := appfamily.Snapshot{ID: value(x.SnapshotId), SizeGB: int(value(x.VolumeSize)), Tags: tagsFrom(x.Tags),
		CreatedAt: value(x.StartTime).UTC(), Failed: x.State == types.SnapshotStateError}
	out.Pending = !out.Failed && x.State != types.SnapshotStateCompleted
	delete(out.Tags, tagName)
	return out
}

// ListSnapshots implements family.VolumeSnapshots.
func (d *disks) ListSnapshots(ctx context.Context, tags map[string]string) ([]appfamily.Snapshot, error) {
	all, err := d.tagged(ctx, tags)
	out := []appfamily.Snapshot{}
	for _, s := range all {
		if s.Tags[appfamily.TagInstallation] != "" && s.Tags[appfamily.TagBake] == "" {
			out = append(out, s)
		}
	}
	return out, err
}

// tagged returns all snapshots that carry the tags, also those of images. The oldest is the first.
func (d *disks) tagged(ctx context.Context, tags map[string]string, more ...types.Filter) (out []appfamily.Snapshot, err error) {
	err = pages(func(token *string) (*string, error) {
		page, err := d.c.ec2.describeSnapshots(ctx, &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"},
			Filters: append(tagFilters(tags), more...), MaxResults: &d.c.tuning.page, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, x := range page.Snapshots {
			if s := snapshotOf(x); carries(s.Tags, tags) {
				out = append(out, s)
			}
		}
		return page.NextToken, nil
	})
	slices.SortFunc(out, func(a, b appfamily.Snapshot) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, err
}

// snapshot returns a snapshot; ENotFound where there is none. What EC2 has just made, it may not know yet.
func (d *disks) snapshot(ctx context.Context, id string) (out appfamily.Snapshot, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	none := &app.Error{Code: app.ENotFound, Reason: reasonNoSnapshot,
		Message: fmt.Sprintf("Snapshot %q doesn't exist in this account and region.", id)}
	if !snapshotForm.MatchString(id) {
		return out, none
	}
	err = d.c.tuning.patiently(ctx, func() error {
		got, err := d.c.ec2.describeSnapshots(ctx, &ec2.DescribeSnapshotsInput{SnapshotIds: []string{id}})
		if err == nil && len(got.Snapshots) == 1 {
			out = snapshotOf(got.Snapshots[0])
		}
		return err
	}, reasonNoSnapshot)
	if err == nil && out.ID == "" {
		err = none
	}
	return out, err
}

// CreateSnapshot implements family.VolumeSnapshots. EC2 takes no client token for it: what lists lack yet is remembered.
func (d *disks) CreateSnapshot(ctx context.Context, spec appfamily.SnapshotSpec) (appfamily.Snapshot, error) {
	tags := maps.Clone(spec.Tags)
	tags[tagName] = spec.Name
	if len(tags) > maxTags {
		return appfamily.Snapshot{}, app.Errorf(app.EInvalid, "Snapshot %s would have %d tags; EC2 allows %d.", spec.Name, len(tags), maxTags)
	}
	release, err := d.copying.Lock(ctx, spec.Intent)
	if err != nil {
		return appfamily.Snapshot{}, err
	}
	defer release()
	key := spec.Tags[appfamily.TagInstallation] + "\x00" + spec.Intent
	has, err := d.standingSnapshot(ctx, key, spec)
	if err != nil {
		return appfamily.Snapshot{}, err
	}
	if has != nil {
		return d.settled(ctx, has.ID)
	}
	if _, err := d.volume(ctx, spec.Volume); err != nil {
		return appfamily.Snapshot{}, err
	}
	made, err := d.c.ec2.createSnapshot(ctx, &ec2.CreateSnapshotInput{VolumeId: &spec.Volume, Description: &spec.Name,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSnapshot, Tags: tagged(tags)}}})
	if err != nil {
		d.copies.Keep(key, "", err, d.c.tuning.late)
		return appfamily.Snapshot{}, err
	}
	d.copies.Keep(key, value(made.SnapshotId), nil, d.c.tuning.late)
	return d.settled(ctx, value(made.SnapshotId))
}

// standingSnapshot returns the intent's snapshot; nil where there is none. Those that failed are deleted.
func (d *disks) standingSnapshot(ctx context.Context, key string, spec appfamily.SnapshotSpec) (*appfamily.Snapshot, error) {
	unlessFailed := func(x appfamily.Snapshot) (*appfamily.Snapshot, error) {
		if x.Failed {
			return nil, d.DeleteSnapshot(ctx, x.ID)
		}
		return &x, nil
	}
	wanted := map[string]string{appfamily.TagInstallation: spec.Tags[appfamily.TagInstallation], appfamily.TagIntent: spec.Intent}
	find := func() (*appfamily.Snapshot, error) {
		found, err := d.ListSnapshots(ctx, wanted)
		for _, x := range found {
			if one, err := unlessFailed(x); one != nil || err != nil {
				return one, err
			}
		}
		return nil, err
	}
	get := func(id string) (*appfamily.Snapshot, error) {
		x, err := d.snapshot(ctx, id)
		if app.CodeOf(err) == app.ENotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return unlessFailed(x)
	}
	return account.Standing(ctx, &d.copies, key, d.c.tuning.late, find, get)
}

// settled waits a little until a snapshot is whole: its content is that of the moment when it was asked for. One that
// failed is deleted; the next call makes it again.
func (d *disks) settled(ctx context.Context, id string) (appfamily.Snapshot, error) {
	for end := time.Now().Add(d.c.tuning.late); ; {
		last := time.Now().After(end)
		x, err := d.snapshot(ctx, id)
		switch {
		case err != nil:
			return x, err
		case x.Failed:
			if err := d.DeleteSnapshot(ctx, id); err != nil {
				return x, err
			}
			return x, app.Errorf(app.ETransient, "EC2 failed to create snapshot %s. It's created again.", id)
		case !x.Pending || last:
			return x, nil
		}
		if err := pause(ctx, d.c.tuning.poll); err != nil {
			return x, err
		}
	}
}

// DeleteSnapshot implements family.VolumeSnapshots.
func (d *disks) DeleteSnapshot(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil || !snapshotForm.MatchString(id) {
		return err
	}
	err := d.c.tuning.patiently(ctx, func() error {
		_, err := d.c.ec2.deleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: &id})
		return err
	}, reasonNoSnapshot)
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}

// CreateVolumeFrom implements family.VolumeSnapshots: in any zone of the region.
func (d *disks) CreateVolumeFrom(ctx context.Context, spec appfamily.VolumeSpec, snapshot string) (appfamily.Volume, error) {
	return d.ensure(ctx, spec, func(in *ec2.CreateVolumeInput) error {
		x, err := d.snapshot(ctx, snapshot)
		switch {
		case err != nil:
			return err
		case x.Failed:
			return app.Errorf(app.EConflict, "Snapshot %s is in state error.", snapshot)
		case x.Pending:
			return app.Errorf(app.ETransient, "Snapshot %s isn't complete yet.", snapshot)
		}
		in.SnapshotId, in.Size = &snapshot, ref(max(value(in.Size), int32(x.SizeGB)))
		return nil
	})
}

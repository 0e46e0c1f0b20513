package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/family"
)

var _ family.VolumeSnapshots = (*guarded)(nil)

func (g *guarded) snapshots(verb string) (family.VolumeSnapshots, error) {
	s, ok := family.PowerOf[family.VolumeSnapshots](g.inner)
	if !ok {
		return nil, &app.Error{Code: app.EInvalid, Reason: "no_snapshots",
			Message: fmt.Sprintf("%s: %s: this provider doesn't make snapshots of volumes", g.name, verb)}
	}
	return s, nil
}

// CreateSnapshot makes a snapshot of a volume of ours, with our tags.
func (g *guarded) CreateSnapshot(ctx context.Context, spec family.SnapshotSpec) (family.Snapshot, error) {
	s, err := g.snapshots("create snapshot")
	if err != nil {
		return family.Snapshot{}, err
	}
	if spec.Intent == "" || spec.Tags[family.TagIntent] != spec.Intent || spec.Tags[family.TagInstallation] != g.installation {
		return family.Snapshot{}, app.Errorf(app.EInternal, "%s: create snapshot: tags must carry the intent and this installation", g.name)
	}
	if err := g.ourVolume(ctx, spec.Volume); err != nil {
		return family.Snapshot{}, err
	}
	return timed(ctx, g, g.limits.create, "create snapshot", func(ctx context.Context) (family.Snapshot, error) { return s.CreateSnapshot(ctx, spec) })
}

// ListSnapshots lists those of this installation.
func (g *guarded) ListSnapshots(ctx context.Context, tags map[string]string) ([]family.Snapshot, error) {
	s, ok := family.PowerOf[family.VolumeSnapshots](g.inner)
	if !ok {
		return nil, nil
	}
	all := map[string]string{}
	maps.Copy(all, tags)
	all[family.TagInstallation] = g.installation
	return timed(ctx, g, g.limits.list, "list snapshots", func(ctx context.Context) ([]family.Snapshot, error) {
		list, err := s.ListSnapshots(ctx, all)
		return slices.DeleteFunc(slices.Clone(list), func(x family.Snapshot) bool { return x.Tags[family.TagInstallation] != g.installation }), err
	})
}

func (g *guarded) ourSnapshot(ctx context.Context, id string) (bool, error) {
	ours, err := g.ListSnapshots(ctx, nil)
	return slices.ContainsFunc(ours, func(x family.Snapshot) bool { return x.ID == id }), err
}

// DeleteSnapshot deletes a snapshot of ours. What isn't ours counts as absent.
func (g *guarded) DeleteSnapshot(ctx context.Context, id string) error {
	s, err := g.snapshots("delete snapshot")
	if err != nil {
		return err
	}
	if ours, err := g.ourSnapshot(ctx, id); err != nil || !ours {
		return err
	}
	_, err = timed(ctx, g, g.limits.delete, "delete snapshot", func(ctx context.Context) (struct{}, error) { return struct{}{}, s.DeleteSnapshot(ctx, id) })
	return err
}

// CreateVolumeFrom makes a volume of a snapshot of ours.
func (g *guarded) CreateVolumeFrom(ctx context.Context, spec family.VolumeSpec, snapshot string) (family.Volume, error) {
	s, err := g.snapshots("create volume from a snapshot")
	if err != nil {
		return family.Volume{}, err
	}
	if spec.Intent == "" || spec.Tags[family.TagIntent] != spec.Intent || spec.Tags[family.TagInstallation] != g.installation {
		return family.Volume{}, app.Errorf(app.EInternal, "%s: create volume: tags must carry the intent and this installation", g.name)
	}
	ours, err := g.ourSnapshot(ctx, snapshot)
	if err == nil && !ours {
		err = app.Errorf(app.ENotFound, "%s: snapshot %q doesn't belong to this installation", g.name, snapshot)
	}
	if err != nil {
		return family.Volume{}, err
	}
	return timed(ctx, g, g.limits.create, "create volume from a snapshot",
		func(ctx context.Context) (family.Volume, error) { return s.CreateVolumeFrom(ctx, spec, snapshot) })
}

package site

import (
	"context"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/app/volume"
)

// Volumes lists volumes, and decides what happens to them.
type Volumes interface {
	Volumes(ctx context.Context, a app.Actor, f volume.Filter) ([]volume.Volume, error)
	Volume(ctx context.Context, a app.Actor, id string) (volume.Volume, error)
	// DeleteVolume deletes a kept volume, with all data on it.
	DeleteVolume(ctx context.Context, a app.Actor, id string) (volume.Volume, error)
	// ExtendVolume keeps a kept volume for some time from now; 0 is forever.
	ExtendVolume(ctx context.Context, a app.Actor, id string, d time.Duration) (volume.Volume, error)
	// ForgetVolume ends a volume that is lost at its provider, so that its node gets an empty one.
	ForgetVolume(ctx context.Context, a app.Actor, id string) (volume.Volume, error)
	Snapshots(ctx context.Context, a app.Actor, f volume.SnapshotFilter) ([]volume.Snapshot, error)
	// CreateSnapshot copies a volume; keep is how many of its snapshots are kept, 0 for the default.
	CreateSnapshot(ctx context.Context, a app.Actor, volume string, keep int) (volume.Snapshot, error)
	// SetSnapshots says when snapshots of a volume are made; the zero value: never.
	SetSnapshots(ctx context.Context, a app.Actor, volume string, s template.Snapshots) (volume.Volume, error)
	Snapshot(ctx context.Context, a app.Actor, id string) (volume.Snapshot, error)
	DeleteSnapshot(ctx context.Context, a app.Actor, id string) (volume.Snapshot, error)
}

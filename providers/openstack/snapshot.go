package openstack

import (
	"context"

	"muster/app/family"
	stack "muster/providers/internal/openstack"
)

// copies makes snapshots of volumes.
type copies struct{ p *Provider }

var (
	_ family.VolumeSnapshots = (*Provider)(nil)
	_ family.VolumeGetter    = (*Provider)(nil)
)

// CreateSnapshot copies a volume in Cinder, or returns the copy of the same intent.
func (c *copies) CreateSnapshot(ctx context.Context, spec family.SnapshotSpec) (family.Snapshot, error) {
	done, err := c.p.turns.Take(ctx, "volume "+spec.Intent)
	if err != nil {
		return family.Snapshot{}, err
	}
	defer done()
	return stack.With(ctx, c.p.sessions, func(s *stack.Session) (family.Snapshot, error) {
		return stack.EnsureSnapshot(ctx, s, c.p.pace, &c.p.askedVolumes, spec)
	})
}

// ListSnapshots returns the snapshots that carry all of the tags.
func (c *copies) ListSnapshots(ctx context.Context, tags map[string]string) ([]family.Snapshot, error) {
	return stack.With(ctx, c.p.sessions, func(s *stack.Session) ([]family.Snapshot, error) { return stack.ListSnapshots(ctx, s, tags) })
}

// DeleteSnapshot deletes a copy.
func (c *copies) DeleteSnapshot(ctx context.Context, id string) error {
	return c.p.DeleteVolume(ctx, id)
}

// CreateVolumeFrom makes a volume with the content of a copy.
func (c *copies) CreateVolumeFrom(ctx context.Context, spec family.VolumeSpec, snapshot string) (family.Volume, error) {
	done, err := c.p.turns.Take(ctx, "volume "+spec.Intent)
	if err != nil {
		return family.Volume{}, err
	}
	defer done()
	return stack.With(ctx, c.p.sessions, func(s *stack.Session) (family.Volume, error) {
		return stack.EnsureVolumeFrom(ctx, s, c.p.pace, &c.p.askedVolumes, spec, snapshot)
	})
}

package openstack

import (
	"context"

	"muster/app/family"
	stack "muster/providers/internal/openstack"
)

// CreateVolume makes a volume in Cinder, or returns the one of the same intent.
func (p *Provider) CreateVolume(ctx context.Context, spec family.VolumeSpec) (family.Volume, error) {
	done, err := p.turns.Take(ctx, "volume "+spec.Intent)
	if err != nil {
		return family.Volume{}, err
	}
	defer done()
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Volume, error) {
		return stack.EnsureVolume(ctx, s, p.pace, &p.askedVolumes, spec, p.settings.Text("volume_type"))
	})
}

// ListVolumes returns the volumes that carry all of the tags.
func (p *Provider) ListVolumes(ctx context.Context, tags map[string]string) ([]family.Volume, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) ([]family.Volume, error) { return stack.ListVolumes(ctx, s, tags) })
}

// AttachVolume has a server see a volume.
func (p *Provider) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	done, err := p.turns.Take(ctx, "volume "+at.Volume)
	if err != nil {
		return family.Volume{}, err
	}
	defer done()
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Volume, error) {
		return stack.AttachVolume(ctx, s, p.pace, at.Volume, at.Machine)
	})
}

// DetachVolume takes a volume from whatever server has it.
func (p *Provider) DetachVolume(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, stack.DetachVolume(ctx, s, p.pace, id) })
	return err
}

// DeleteVolume deletes a volume that no server has.
func (p *Provider) DeleteVolume(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, stack.DeleteVolume(ctx, s, p.pace, id) })
	return err
}

// Volume returns one volume.
func (p *Provider) Volume(ctx context.Context, id string) (family.Volume, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Volume, error) { return stack.OneVolume(ctx, s, id) })
}

package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

var _ family.Volumes = (*guarded)(nil)

// volumes returns the member's power; EInvalid, reason no_volumes, where it has none.
func (g *guarded) volumes(verb string) (family.Volumes, error) {
	v, ok := family.PowerOf[family.Volumes](g.inner)
	if !ok {
		return nil, &app.Error{Code: app.EInvalid, Reason: "no_volumes", Message: fmt.Sprintf("%s: %s: this provider doesn't make volumes", g.name, verb),
			Hint: "Choose a provider that makes volumes, or services that need none."}
	}
	return v, nil
}

// CreateVolume refuses a spec that would make a volume which no one could find again.
func (g *guarded) CreateVolume(ctx context.Context, spec family.VolumeSpec) (family.Volume, error) {
	v, err := g.volumes("create volume")
	if err != nil {
		return family.Volume{}, err
	}
	if spec.Intent == "" || spec.Tags[family.TagIntent] != spec.Intent || spec.Tags[family.TagInstallation] != g.installation {
		return family.Volume{}, app.Errorf(app.EInternal, "%s: create volume: tags must carry the intent and this installation", g.name)
	}
	return timed(ctx, g, g.limits.create, "create volume", func(ctx context.Context) (family.Volume, error) { return v.CreateVolume(ctx, spec) })
}

// ListVolumes adds our installation to the tags that are asked for; nothing where the member makes no volumes.
func (g *guarded) ListVolumes(ctx context.Context, tags map[string]string) ([]family.Volume, error) {
	v, ok := family.PowerOf[family.Volumes](g.inner)
	if !ok {
		return nil, nil
	}
	all := maps.Clone(tags)
	if all == nil {
		all = make(map[string]string, 1)
	}
	all[family.TagInstallation] = g.installation
	return timed(ctx, g, g.limits.list, "list volumes", func(ctx context.Context) ([]family.Volume, error) {
		list, err := v.ListVolumes(ctx, all)
		return slices.DeleteFunc(slices.Clone(list), func(v family.Volume) bool { return v.Tags[family.TagInstallation] != g.installation }), err
	})
}

// Volume returns a volume of ours.
func (g *guarded) Volume(ctx context.Context, id string) (family.Volume, error) {
	one, ok := family.PowerOf[family.VolumeGetter](g.inner)
	if !ok {
		return family.Volume{}, app.Errorf(app.EInvalid, "%s: volumes can't be looked up by ID", g.name)
	}
	v, err := timed(ctx, g, g.limits.list, "look up volume", func(ctx context.Context) (family.Volume, error) { return one.Volume(ctx, id) })
	if err == nil && v.Tags[family.TagInstallation] != g.installation {
		return family.Volume{}, app.Errorf(app.ENotFound, "%s: volume %q doesn't belong to this installation", g.name, id)
	}
	return v, err
}

// ourVolume looks before something is done to a volume: one without our tag is ENotFound.
func (g *guarded) ourVolume(ctx context.Context, id string) error {
	if _, ok := family.PowerOf[family.VolumeGetter](g.inner); ok {
		_, err := g.Volume(ctx, id)
		return err
	}
	for late := family.ListsLate(g.inner); ; late = 0 { // one that was just created may not be listed yet
		ours, err := g.ListVolumes(ctx, nil)
		if err != nil || slices.ContainsFunc(ours, func(v family.Volume) bool { return v.ID == id }) {
			return err
		}
		if late == 0 {
			return app.Errorf(app.ENotFound, "%s: volume %q doesn't belong to this installation", g.name, id)
		}
		select {
		case <-time.After(late):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// AttachVolume attaches a volume of ours to a machine of ours.
func (g *guarded) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	v, err := g.volumes("attach volume")
	if err != nil {
		return family.Volume{}, err
	}
	if err := g.ourVolume(ctx, at.Volume); err != nil {
		return family.Volume{}, err
	}
	if _, err := g.Describe(ctx, at.Machine); err != nil {
		return family.Volume{}, err
	}
	return timed(ctx, g, g.limits.power, "attach volume", func(ctx context.Context) (family.Volume, error) { return v.AttachVolume(ctx, at) })
}

// DetachVolume takes a volume of ours from its machine. What isn't ours counts as absent.
func (g *guarded) DetachVolume(ctx context.Context, id string) error {
	return g.onVolume(ctx, "detach volume", id, family.Volumes.DetachVolume)
}

// DeleteVolume deletes a volume of ours. What isn't ours counts as absent.
func (g *guarded) DeleteVolume(ctx context.Context, id string) error {
	return g.onVolume(ctx, "delete volume", id, family.Volumes.DeleteVolume)
}

func (g *guarded) onVolume(ctx context.Context, verb, id string, act func(family.Volumes, context.Context, string) error) error {
	v, err := g.volumes(verb)
	if err != nil {
		return err
	}
	if err := g.ourVolume(ctx, id); err != nil {
		if app.CodeOf(err) == app.ENotFound {
			return nil
		}
		return err
	}
	_, err = timed(ctx, g, g.limits.delete, verb, func(ctx context.Context) (struct{}, error) { return struct{}{}, act(v, ctx, id) })
	return err
}

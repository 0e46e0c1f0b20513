package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/family"
)

// baker is the member's power, or why it has none.
func (g *guarded) baker(verb string) (family.Baker, error) {
	if b, ok := family.PowerOf[family.Baker](g.inner); ok {
		return b, nil
	}
	return nil, &app.Error{Code: app.EInvalid, Reason: "cannot_bake", Message: fmt.Sprintf("%s: %s: this provider can't make images of machines", g.name, verb)}
}

// Bake looks before it acts, as Delete does, and refuses an image that no one could find again.
func (g *guarded) Bake(ctx context.Context, machine string, spec family.BakeSpec) (family.BakedImage, error) {
	b, err := g.baker("bake")
	if err != nil {
		return family.BakedImage{}, err
	}
	if spec.Tags[family.TagInstallation] != g.installation || spec.Tags[family.TagBake] == "" {
		return family.BakedImage{}, app.Errorf(app.EInternal, "%s: bake: the tags %s and %s are required", g.name, family.TagInstallation, family.TagBake)
	}
	if _, err := g.Describe(ctx, machine); err != nil {
		return family.BakedImage{}, err
	}
	return timed(ctx, g, g.limits.create, "bake", func(ctx context.Context) (family.BakedImage, error) { return b.Bake(ctx, machine, spec) })
}

// BakedImages lists only what carries our installation's tag; nothing where the member makes none.
func (g *guarded) BakedImages(ctx context.Context, tags map[string]string) ([]family.BakedImage, error) {
	b, err := g.baker("list images")
	if err != nil {
		return nil, nil //nolint:nilerr // without the power there are none
	}
	all := maps.Clone(tags)
	if all == nil {
		all = make(map[string]string, 1)
	}
	all[family.TagInstallation] = g.installation
	return timed(ctx, g, g.limits.list, "list images", func(ctx context.Context) ([]family.BakedImage, error) { return b.BakedImages(ctx, all) })
}

// DeleteBaked looks before it deletes: what does not carry our tag is taken to be absent.
func (g *guarded) DeleteBaked(ctx context.Context, id string) error {
	b, err := g.baker("delete image")
	if err != nil {
		return nil //nolint:nilerr // without the power there are none
	}
	ours, err := g.BakedImages(ctx, nil)
	if err != nil || !slices.ContainsFunc(ours, func(i family.BakedImage) bool { return i.ID == id && i.Tags[family.TagBake] != "" }) {
		return err
	}
	_, err = timed(ctx, g, g.limits.delete, "delete image", func(ctx context.Context) (struct{}, error) { return struct{}{}, b.DeleteBaked(ctx, id) })
	return err
}

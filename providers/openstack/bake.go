package openstack

import (
	"context"

	"muster/app/family"
	stack "muster/providers/internal/openstack"
)

// Bake has Nova make an image of a server in Glance, or returns the one with the same tags.
func (p *Provider) Bake(ctx context.Context, machine string, spec family.BakeSpec) (family.BakedImage, error) {
	done, err := p.turns.Take(ctx, "image "+spec.Tags[family.TagBake])
	if err != nil {
		return family.BakedImage{}, err
	}
	defer done()
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.BakedImage, error) {
		return stack.Bake(ctx, s, p.pace, &p.asked, machine, spec)
	})
}

// BakedImages returns the images that carry all of the tags.
func (p *Provider) BakedImages(ctx context.Context, tags map[string]string) ([]family.BakedImage, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) ([]family.BakedImage, error) { return stack.BakedImages(ctx, s, tags) })
}

// DeleteBaked deletes an image.
func (p *Provider) DeleteBaked(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, stack.DeleteBaked(ctx, s, id) })
	return err
}

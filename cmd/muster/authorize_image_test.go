package main

import (
	"context"
	"time"

	"muster/app/all"
	"muster/app/image"
)

// image makes one of the scene's tenant, which waits to be built.
func (s *scene) image() int64 {
	s.used = true
	list, err := s.server.Store.AddImages(s.t.Context(), s.boss(), []image.Image{{Key: s.fresh("key"), Template: "web", Provider: "none",
		Hardware: "small", Base: "host",
		Services: []string{"web"}, CreatedBy: "boss", Keep: time.Hour}}, time.Now())
	s.must(err)
	return list[0].ID
}

func bakeRule() image.Rule {
	return image.Rule{Template: "web", AfterCreates: 3, Within: 24 * time.Hour, KeepUnused: 24 * time.Hour}
}

// Baked images, in the matrix.
var imageTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"Images": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Image.Images.Images(ctx, s.actor)
		return err
	},
	"BakeImages": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Image.Images.BakeImages(ctx, s.actor, "web", 0)
		return err
	},
	"DeleteImage": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Image.Images.DeleteImage(ctx, s.actor, s.image())
	},
	"SetBakeRule": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Image.Images.SetBakeRule(ctx, s.actor, bakeRule())
		return err
	},
	"DeleteBakeRule": func(ctx context.Context, a *all.Services, s *scene) error {
		s.used = true
		rule := bakeRule()
		rule.Tenant, rule.SetBy, rule.SetAt = s.boss().Tenant, "boss", time.Now()
		s.must(s.server.Store.SetBakeRule(ctx, s.boss(), rule, false))
		return a.Image.Images.DeleteBakeRule(ctx, s.actor, "web")
	},
}

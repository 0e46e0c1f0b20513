package main

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"muster/app/all"
	appbuild "muster/app/build"
)

var ciRules = []appbuild.Rule{{Name: "web", When: `event.event == "build"`, Do: appbuild.ActionCreate, Template: "none", Forks: appbuild.ForksAll}}

// buildHook makes one of the scene's tenant, whose builds are the scene's owner's.
func (s *scene) buildHook() string {
	s.used = true
	owner := s.owner
	name := "ci-" + s.tenant + "-" + owner[strings.LastIndex(owner, "-")+1:] // a tenant has only so many
	id, key := strings.ToLower(rand.Text()), make([]byte, 32)
	_, _, err := s.server.Store.SaveBuildHook(s.t.Context(), s.boss(), appbuild.BuildHookChange{Name: name, System: "generic", Owner: &owner, Rules: &ciRules, New: "whsec_AAAA", ID: id, TokenKey: key}, time.Now())
	s.must(err)
	return name
}

// delivered keeps a delivery of such a hook, and the build that it began.
func (s *scene) delivered() (hook string, delivery, build int64) {
	hook, s.hidden = s.buildHook(), true
	h, err := s.server.Store.BuildHook(s.t.Context(), s.tenant, hook)
	s.must(err)
	uniq := strings.ToLower(rand.Text())
	done, err := s.server.Store.IngestBuild(s.t.Context(), appbuild.IngestOrder{Hook: h, Who: s.boss(), Uniq: uniq, Body: []byte(`{"event":"build","phase":"running","build":"` + uniq + `"}`), Now: time.Now(),
		Delivery: appbuild.DeliveryRecord{Hook: hook, At: time.Now(), System: "generic", Event: "build", Rule: "web"},
		Begin:    &appbuild.Start{Rule: ciRules[0], Key: uniq, Ask: appbuild.Spec{Template: "none", WaitFor: 1}}})
	s.must(err)
	return hook, done.Delivery.ID, done.Build.ID
}

// Builds, in the matrix.
var buildTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"BuildHooks": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Build.Hooks.BuildHooks(ctx, s.actor)
		return err
	},
	"BuildHook": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Build.Hooks.BuildHook(ctx, s.actor, s.buildHook())
		return err
	},
	"SaveBuildHook": func(ctx context.Context, a *all.Services, s *scene) error {
		own := *s // a name of another tenant's is one that is free here
		own.tenant = s.actor.Tenant
		_, err := a.Build.Hooks.SaveBuildHook(ctx, s.actor, appbuild.BuildHookRequest{Name: own.buildHook(), Rules: &ciRules})
		return err
	},
	"DeleteBuildHook": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Build.Hooks.DeleteBuildHook(ctx, s.actor, s.buildHook())
	},
	"CheckBuildRules": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Build.Hooks.CheckBuildRules(ctx, s.actor, ciRules)
	},
	"TryBuild": func(ctx context.Context, a *all.Services, s *scene) error {
		hook, delivery, _ := s.delivered()
		_, err := a.Build.Intake.TryBuild(ctx, s.actor, hook, appbuild.Trial{Delivery: delivery})
		return err
	},
	"BuildDeliveries": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Build.Intake.BuildDeliveries(ctx, s.actor, s.buildHook(), 0, 10)
		return err
	},
	"BuildDelivery": func(ctx context.Context, a *all.Services, s *scene) error {
		hook, delivery, _ := s.delivered()
		_, err := a.Build.Intake.BuildDelivery(ctx, s.actor, hook, delivery)
		return err
	},
	"ReplayBuild": func(ctx context.Context, a *all.Services, s *scene) error {
		hook, delivery, _ := s.delivered()
		_, err := a.Build.Intake.ReplayBuild(ctx, s.actor, hook, delivery)
		return err
	},
	"BuildList": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Build.Builds.BuildList(ctx, s.actor, appbuild.Filter{})
		return err
	},
	"Build": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, id := s.delivered()
		_, err := a.Build.Builds.Build(ctx, s.actor, id)
		return err
	},
	"AwaitBuild": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, id := s.delivered()
		_, err := a.Build.Builds.AwaitBuild(ctx, s.actor, id, 0)
		return err
	},
	"EndBuild": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, id := s.delivered()
		_, err := a.Build.Builds.EndBuild(ctx, s.actor, id)
		return err
	},
	"ExtendBuild": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, id := s.delivered()
		_, err := a.Build.Builds.ExtendBuild(ctx, s.actor, id, 60e9)
		return err
	},
}

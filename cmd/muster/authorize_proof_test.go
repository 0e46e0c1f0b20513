package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/build"
	"muster/app/identity"
	"muster/app/webhook"
)

// Each use case says whether it takes a proof of who asks; those that do ask people who are signed in for one before anything else, and no
// tokens; those that do not never ask.
func TestReauthenticationFollowsTheTable(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	tries, always := allTries(), 0
	tries["RegisterPlugin"] = func(ctx context.Context, a *all.Services, s *scene) error { // whether it takes one is asked before the file
		_, err := a.Plugin.RegisterPlugin(ctx, s.actor, "muster-provider-none", "")
		return err
	}
	for _, p := range app.Permissions() {
		if !slices.Contains([]string{"never", "partly", "always"}, p.Proof) {
			t.Errorf("%s does not say whether it takes a proof: %q", p.UseCase, p.Proof)
			continue
		}
		if p.Proof == "partly" || tries[p.UseCase] == nil {
			if p.Proof == "always" {
				t.Errorf("%s always takes a proof, and no test calls it: add it to tries in cmd/muster/authorize_*_test.go", p.UseCase)
			}
			continue
		}
		role := app.Roles[slices.IndexFunc(app.Roles, func(r app.Role) bool { return p.Reach[r] != app.ReachNone })]
		asks := func(a app.Actor) bool {
			t.Helper()
			a.Tenant, a.User, a.Role = here, string(role), role
			err := tries[p.UseCase](t.Context(), m.server.Services, &scene{matrix: m, actor: a, tenant: here, owner: a.User})
			return err != nil && app.AsError(err).Reason == app.StepUpReason
		}
		now := time.Now()
		stale := app.Actor{Session: "1", ProvenAt: now.Add(-app.FreshWithin - time.Second), SeenAt: now, Via: app.ViaPortal}
		if got := asks(stale); got != (p.Proof == "always") {
			t.Errorf("%s takes a proof %s by PermissionTable (app/authorize.go); of a stale sign-in it asks for one: %t", p.UseCase, p.Proof, got)
		}
		if p.Proof != "always" {
			continue
		}
		always++
		if stale.ProvenAt = now; asks(stale) {
			t.Errorf("%s asks for a proof that was just given", p.UseCase)
		}
		if p.Scope != app.ScopeAccount && p.UseCase != "BreakGlass" && asks(app.Actor{Token: "ci", Via: app.ViaAPI}) { // emergency override asks tokens too
			t.Errorf("%s asks a token for a proof", p.UseCase)
		}
	}
	if always < 10 {
		t.Errorf("only %d use cases always take a proof", always)
	}
}

// What takes a proof only for some of what it does.
func TestProofsOfSomeOfAUseCase(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	now := time.Now()
	stale := app.Actor{Tenant: here, User: "admin", Role: app.RoleSuperadmin, Session: "1", ProvenAt: now.Add(-app.FreshWithin - time.Second), SeenAt: now, Via: app.ViaPortal}
	a, ctx := m.server.Services, t.Context()
	admin, user := app.RoleAdmin, app.RoleUser
	for _, c := range []struct {
		name string
		asks bool
		try  func(app.Actor) error
	}{
		{"a new user", false, func(w app.Actor) error {
			_, _, err := a.Identity.Users.CreateUser(ctx, w, identity.NewUser{Name: "p-user", Role: user})
			return err
		}},
		{"a new admin", true, func(w app.Actor) error {
			_, _, err := a.Identity.Users.CreateUser(ctx, w, identity.NewUser{Name: "p-admin", Role: admin})
			return err
		}},
		{"a promotion", true, func(w app.Actor) error {
			_, err := a.Identity.Users.ChangeUser(ctx, w, "p-user", identity.UserChange{Role: &admin})
			return err
		}},
		{"the admin whom it made", false, func(w app.Actor) error {
			_, err := a.Identity.Users.ChangeUser(ctx, w, "p-user", identity.UserChange{Role: &admin})
			return err
		}},
		{"a demotion", false, func(w app.Actor) error {
			_, err := a.Identity.Users.ChangeUser(ctx, w, "p-user", identity.UserChange{Role: &user})
			return err
		}},
		{"a tenant", false, func(w app.Actor) error {
			_, _, err := a.Identity.Tenants.CreateTenant(ctx, w, identity.NewTenant{Name: "p-bare"})
			return err
		}},
		{"a tenant with an admin", true, func(w app.Actor) error {
			_, _, err := a.Identity.Tenants.CreateTenant(ctx, w, identity.NewTenant{Name: "p-led", Admin: &identity.NewUser{Name: "lea"}})
			return err
		}},
		{"a new hook", true, func(w app.Actor) error {
			_, err := a.Webhook.SaveHook(ctx, w, webhook.EndpointRequest{Name: "p", URL: "https://chat.example.com/x"})
			return err
		}},
		{"a hook's kinds", false, func(w app.Actor) error {
			_, err := a.Webhook.SaveHook(ctx, w, webhook.EndpointRequest{Name: "p", Kinds: &[]app.NoticeKind{}})
			return err
		}},
		{"a hook's new secret", true, func(w app.Actor) error {
			_, err := a.Webhook.SaveHook(ctx, w, webhook.EndpointRequest{Name: "p", Rotate: true})
			return err
		}},
		{"a new build hook", true, func(w app.Actor) error {
			_, err := a.Build.Hooks.SaveBuildHook(ctx, w, build.BuildHookRequest{Name: "p", System: "github"})
			return err
		}},
		{"a build hook's rules", false, func(w app.Actor) error {
			_, err := a.Build.Hooks.SaveBuildHook(ctx, w, build.BuildHookRequest{Name: "p", Rules: &[]build.Rule{}})
			return err
		}},
		{"a build hook's new secret", true, func(w app.Actor) error {
			_, err := a.Build.Hooks.SaveBuildHook(ctx, w, build.BuildHookRequest{Name: "p", Rotate: true})
			return err
		}},
	} {
		err := c.try(stale)
		if asked := err != nil && app.AsError(err).Reason == app.StepUpReason; asked != c.asks || err != nil && !asked {
			t.Errorf("%s, without a proof: %v", c.name, err)
		}
		if !c.asks {
			continue
		}
		fresh := stale
		fresh.ProvenAt = now
		if err := c.try(fresh); err != nil {
			t.Errorf("%s, with a proof: %v", c.name, err)
		}
	}
}

package identity

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
)

// local makes an account with a password of its own and signs it in.
func (t *storeTest) local(a *all.Services, boss app.Actor, name string) (actor app.Actor, password string) {
	t.Helper()
	_, first, err := a.Identity.Users.CreateUser(t.Ctx, boss, identity.NewUser{Name: name, Role: app.RoleUser})
	t.Must(err)
	s, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, name, first, identity.Visit{})
	t.Must(err)
	password = "four words of mine"
	t.Must(a.Identity.Passwords.ChangePassword(t.Ctx, t.actor(a, s), first, password))
	return t.actor(a, s), password
}

// actor is who a sign-in is for.
func (t *storeTest) actor(a *all.Services, s identity.Session) app.Actor {
	t.Helper()
	actor, err := a.Identity.Sessions.ActorOfSession(t.Ctx, s.ID, identity.Visit{})
	t.Must(err)
	return actor
}

// withApp adds an authenticator app to an account, and returns its secret and the recovery codes.
func (t *storeTest) withApp(a *all.Services, who app.Actor) (secret string, codes []string) {
	t.Helper()
	secret, err := a.Identity.Factors.StartAuthenticator(t.Ctx, who)
	t.Must(err)
	codes, err = a.Identity.Factors.ConfirmAuthenticator(t.Ctx, who, apptest.Code(secret, t.Clock.Now()))
	t.Must(err)
	return secret, codes
}

// secondFactor follows an account from its first second factor to its last.
func (t *storeTest) secondFactor() {
	a, _, boss := t.services()
	ada, password := t.local(a, boss, "ada")
	other, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
	t.Must(err)

	// Until a code was entered, there is none.
	secret, err := a.Identity.Factors.StartAuthenticator(t.Ctx, ada)
	t.Must(err)
	if again, err := a.Identity.Factors.StartAuthenticator(t.Ctx, ada); err != nil || again != secret {
		t.Errorf("asked again: another secret, %v", err)
	}
	t.reason(kit.Err(a.Identity.Factors.ConfirmAuthenticator(t.Ctx, ada, "000000")), app.EInvalid, "wrong_code")
	t.Must(kit.Err(a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})))
	t.Clock.Move(20 * time.Minute)
	ada.ProvenAt, ada.SeenAt = t.Clock.Now(), t.Clock.Now()
	t.reason(kit.Err(a.Identity.Factors.ConfirmAuthenticator(t.Ctx, ada, apptest.Code(secret, t.Clock.Now()))), app.EConflict, "expired")

	secret, codes := t.withApp(a, ada)
	if len(codes) != 10 {
		t.Errorf("%d recovery codes", len(codes))
	}
	t.Must(kit.Err(a.Identity.Sessions.ActorOfSession(t.Ctx, t.id(ada), identity.Visit{})))
	t.Code(kit.Err(a.Identity.Sessions.ActorOfSession(t.Ctx, other.ID, identity.Visit{})), app.EUnauthorized)
	t.reason(kit.Err(a.Identity.Factors.StartAuthenticator(t.Ctx, ada)), app.EConflict, "has_app")

	// The password alone begins nothing.
	pend := func() identity.Session {
		t.Helper()
		s, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
		t.reason(err, app.EForbidden, app.SecondFactorReason)
		if s.ID != 0 {
			t.Errorf("a sign-in began with the password alone: %+v", s)
		}
		return s
	}
	finish := func(p identity.Session, code string) (identity.Session, error) {
		return a.Identity.SignIns.FinishSignIn(t.Ctx, p, identity.FactorProof{Code: code}, identity.Visit{From: "192.0.2.7"})
	}
	p := pend()
	t.reason(kit.Err(finish(p, "")), app.EUnauthorized, app.SecondFactorReason)
	t.reason(kit.Err(finish(p, "123")), app.EUnauthorized, "wrong_code")
	t.reason(kit.Err(finish(p, apptest.Code(secret, t.Clock.Now()))), app.EUnauthorized, "wrong_code") // it confirmed the app
	t.Clock.Move(30 * time.Second)
	in, err := finish(p, apptest.Code(secret, t.Clock.Now()))
	t.Must(err)
	if who := t.actor(a, in); who.User != "ada" {
		t.Errorf("signed in as %+v", who)
	}
	t.reason(kit.Err(finish(pend(), apptest.Code(secret, t.Clock.Now()))), app.EUnauthorized, "wrong_code") // replayed

	// What was pending ends by time, with the password, and is of its account only.
	p = pend()
	t.Clock.Move(identity.PendingSignIn)
	t.reason(kit.Err(finish(p, apptest.Code(secret, t.Clock.Now()))), app.EUnauthorized, "expired")
	p = pend()
	p.Mark = "of another password"
	t.reason(kit.Err(finish(p, apptest.Code(secret, t.Clock.Now()))), app.EUnauthorized, "expired")
	p = pend()
	p.User = "boss"
	t.reason(kit.Err(finish(p, apptest.Code(secret, t.Clock.Now()))), app.EUnauthorized, "expired")

	// A recovery code works once, and its owner hears of it.
	t.Must(kit.Err(finish(pend(), codes[0])))
	t.reason(kit.Err(finish(pend(), codes[0])), app.EUnauthorized, "wrong_code")
	if f, err := a.Identity.Factors.SecondFactors(t.Ctx, ada); err != nil || f.Codes != 9 || len(f.Factors) != 1 || len(f.Factors[0].Secret) > 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if list, err := a.Cluster.Dashboard.Notices(t.Ctx, ada, 0, 10); err != nil || len(list) != 1 || list[0].Kind != app.NoticeAccount {
		t.Errorf("notices: %+v, %v", list, err)
	}
	fresh, err := a.Identity.Factors.ReplaceRecoveryCodes(t.Ctx, ada)
	t.Must(err)
	t.reason(kit.Err(finish(pend(), codes[1])), app.EUnauthorized, "wrong_code")
	in, err = finish(pend(), fresh[1])
	t.Must(err)
	ada = t.actor(a, in)

	t.provesWithBoth(a, ada, password, secret)
	have := t.addsSecurityKey(a, ada, pend)

	// Without any, the password is enough again.
	t.Code(a.Identity.Factors.RemoveSecondFactor(t.Ctx, ada, "no such one"), app.ENotFound)
	for _, f := range have.Factors {
		t.Must(a.Identity.Factors.RemoveSecondFactor(t.Ctx, ada, f.ID))
	}
	t.Must(kit.Err(a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})))
	if f, err := a.Identity.Factors.SecondFactors(t.Ctx, ada); err != nil || f.Codes != 0 {
		t.Errorf("recovery codes are left: %+v, %v", f, err)
	}
	t.audited(a, boss, "second_factor.add", 2)
	t.audited(a, boss, "second_factor.remove", 2)
	t.audited(a, boss, "second_factor.recover", 2)
	t.audited(a, boss, "second_factor.codes", 1)
}

// provesWithBoth: a proof takes the password and a code, and what changes second factors takes a fresh proof.
func (t *storeTest) provesWithBoth(a *all.Services, ada app.Actor, password, secret string) {
	t.Helper()
	step := func(password, code string) error {
		return a.Identity.StepUps.StepUp(t.Ctx, ada, password, identity.FactorProof{Code: code})
	}
	t.Clock.Move(time.Minute)
	t.reason(step(password, ""), app.EUnauthorized, app.SecondFactorReason)
	t.Code(step("wrong", apptest.Code(secret, t.Clock.Now())), app.EUnauthorized)
	t.Must(step(password, apptest.Code(secret, t.Clock.Now())))
	stale := ada
	stale.ProvenAt = t.Clock.Now().Add(-app.FreshWithin - time.Second)
	stale.SeenAt = t.Clock.Now()
	for name, err := range map[string]error{
		"StartAuthenticator":   kit.Err(a.Identity.Factors.StartAuthenticator(t.Ctx, stale)),
		"AddSecurityKey":       kit.Err(a.Identity.Factors.AddSecurityKey(t.Ctx, stale, "k", []byte("k"))),
		"RemoveSecondFactor":   a.Identity.Factors.RemoveSecondFactor(t.Ctx, stale, "x"),
		"ReplaceRecoveryCodes": kit.Err(a.Identity.Factors.ReplaceRecoveryCodes(t.Ctx, stale)),
		"ChangePassword":       a.Identity.Passwords.ChangePassword(t.Ctx, stale, password, "four other words of mine"),
	} {
		if app.AsError(err).Reason != app.StepUpReason {
			t.Errorf("%s without a fresh proof: %v", name, err)
		}
	}
}

// addsSecurityKey: a security key besides the app; the one who checks it is the face.
func (t *storeTest) addsSecurityKey(a *all.Services, ada app.Actor, pend func() identity.Session) identity.SecondFactors {
	t.Helper()
	if more, err := a.Identity.Factors.AddSecurityKey(t.Ctx, ada, " Key ring ", []byte("public")); err != nil || more != nil {
		t.Errorf("a second one: %v, %v", more, err)
	}
	key := identity.FactorProof{Key: func(keys []identity.SecondFactor) (identity.SecondFactor, error) {
		if len(keys) != 1 || string(keys[0].Secret) != "public" || keys[0].Name != "Key ring" {
			return identity.SecondFactor{}, fmt.Errorf("keys: %+v", keys)
		}
		keys[0].Secret = []byte("public, used once")
		return keys[0], nil
	}}
	_, err := a.Identity.SignIns.FinishSignIn(t.Ctx, pend(), key, identity.Visit{})
	t.Must(err)
	if list, err := a.Identity.Sessions.Sessions(t.Ctx, ada, ""); err != nil || list[0].Second != identity.FactorKey {
		t.Errorf("%+v, %v", list, err)
	}
	have, err := a.Identity.Factors.SecondFactors(t.Ctx, ada)
	t.Must(err)
	if len(have.Factors) != 2 || string(have.Factors[1].Secret) != "public, used once" || have.Factors[1].UsedAt.IsZero() {
		t.Errorf("%+v", have)
	}
	return have
}

// audited checks how often an act is in the audit.
func (t *storeTest) audited(a *all.Services, boss app.Actor, act string, want int) {
	t.Helper()
	if entries, _, err := a.Identity.AuditLog.Audit(t.Ctx, boss, app.AuditFilter{Act: act}); err != nil || len(entries) != want {
		t.Errorf("the audit has %d of %s, want %d: %v", len(entries), act, want, err)
	}
}

func (t *storeTest) id(who app.Actor) (id int64) {
	t.Helper()
	if _, err := fmt.Sscan(who.Session, &id); err != nil {
		t.Fatal(err)
	}
	return id
}

// guessedCodes checks that codes cannot be tried without end, from however many addresses, and that one code opens one sign-in.
func (t *storeTest) guessedCodes() {
	a, _, boss := t.services()
	ada, password := t.local(a, boss, "ada")
	secret, codes := t.withApp(a, ada)
	t.Clock.Move(time.Minute)
	pending, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
	t.reason(err, app.EForbidden, app.SecondFactorReason)
	try := func(code string) error {
		return kit.Err(a.Identity.SignIns.FinishSignIn(t.Ctx, pending, identity.FactorProof{Code: code}, identity.Visit{}))
	}

	// Many at the same moment with the same code: one.
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if try(apptest.Code(secret, t.Clock.Now())) == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("one code opened %d sign-ins", won.Load())
	}
	t.Clock.Move(30 * time.Second)
	t.Must(try(apptest.Code(secret, t.Clock.Now()))) // which forgets the failures

	for range identity.MostWrongCodes {
		t.reason(try("999999x"), app.EUnauthorized, "wrong_code")
	}
	if list, err := a.Cluster.Dashboard.Notices(t.Ctx, ada, 0, 10); err != nil || len(list) != 1 || list[0].Kind != app.NoticeAccount {
		t.Errorf("notices: %+v, %v", list, err)
	}
	t.Clock.Move(30 * time.Second)
	t.reason(try(apptest.Code(secret, t.Clock.Now())), app.ERateLimit, "too_many_codes")
	t.reason(try(codes[0]), app.ERateLimit, "too_many_codes")
	anyKey := func([]identity.SecondFactor) (identity.SecondFactor, error) { return identity.SecondFactor{}, nil }
	t.Must(kit.Err(a.Identity.SignIns.FinishSignIn(t.Ctx, pending, identity.FactorProof{Key: anyKey}, identity.Visit{})))
	for range identity.MostWrongCodes {
		_ = try("999999x")
	}
	t.Clock.Move(identity.WrongCodesWithin)
	pending, _ = a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
	t.Must(try(codes[0])) // nor was it used up meanwhile
}

// lostSecondFactor is what admins do about it, and what they may ask for.
func (t *storeTest) lostSecondFactor() {
	a, root, boss := t.services()
	ada, password := t.local(a, boss, "ada")
	eve, _ := t.local(a, boss, "eve")
	t.reason(a.Identity.Factors.ResetSecondFactor(t.Ctx, boss, "ada"), app.EConflict, "no_second_factor")
	t.withApp(a, ada)
	t.Code(a.Identity.Factors.ResetSecondFactor(t.Ctx, eve, "ada"), app.EForbidden)
	stale := boss
	stale.ProvenAt = t.Clock.Now().Add(-app.FreshWithin - time.Second)
	t.reason(a.Identity.Factors.ResetSecondFactor(t.Ctx, stale, "ada"), app.EForbidden, app.StepUpReason)
	t.Must(a.Identity.Factors.ResetSecondFactor(t.Ctx, boss, "ada"))
	t.Code(kit.Err(a.Identity.Sessions.ActorOfSession(t.Ctx, t.id(ada), identity.Visit{})), app.EUnauthorized)
	s, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
	t.Must(err)
	ada = t.actor(a, s)
	if list, err := a.Cluster.Dashboard.Notices(t.Ctx, ada, 0, 10); err != nil || len(list) != 1 || list[0].Kind != app.NoticeAccount {
		t.Errorf("notices: %+v, %v", list, err)
	}
	t.audited(a, boss, "second_factor.reset", 1)

	// An admin doesn't remove those of a superadmin. One's own are removed on the account page, or with the host's token.
	t.reason(a.Identity.Factors.ResetSecondFactor(t.Ctx, boss, "boss"), app.EConflict, "own")
	host := root
	host.Session, host.Token, host.ProvenAt = "", "the server's own host", time.Time{}
	t.reason(a.Identity.Factors.ResetSecondFactor(t.Ctx, host, "root"), app.EConflict, "no_second_factor")

	// An account that was deleted leaves nothing to a new one of its name.
	t.withApp(a, ada)
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", ""))
	ada, password = t.local(a, boss, "ada")
	if f, err := a.Identity.Factors.SecondFactors(t.Ctx, ada); err != nil || len(f.Factors) != 0 || f.Codes != 0 {
		t.Errorf("%+v, %v", f, err)
	}

	// A tenant that requires one lets people without do nothing but add it.
	t.Must(a.Identity.Factors.RequireSecondFactor(t.Ctx, boss, true))
	if n, err := a.Identity.Tenants.Tenant(t.Ctx, boss, kit.Tenant); err != nil || !n.RequireSecondFactor {
		t.Errorf("%+v, %v", n, err)
	}
	ada = t.actor(a, identity.Session{ID: t.id(ada)})
	if !ada.MustAddFactor {
		t.Error("a sign-in from before continues without a second factor")
	}
	t.reason(kit.Err(a.Cluster.Views.Clusters(t.Ctx, ada, app.ClusterFilter{})), app.EForbidden, app.MustAddReason)
	secret, _ := t.withApp(a, ada)
	ada = t.actor(a, identity.Session{ID: t.id(ada)})
	t.Must(kit.Err(a.Cluster.Views.Clusters(t.Ctx, ada, app.ClusterFilter{})))
	sso, err := a.Identity.SignIns.SignInBy(t.Ctx, person("kim", identity.Grant{Tenant: kit.Tenant, Role: app.RoleUser}), "", identity.Visit{})
	t.Must(err)
	t.Must(kit.Err(a.Cluster.Views.Clusters(t.Ctx, t.actor(a, sso), app.ClusterFilter{})))
	t.reason(kit.Err(a.Identity.Factors.StartAuthenticator(t.Ctx, t.actor(a, sso))), app.EConflict, "no_password")
	t.Must(a.Identity.Factors.RequireSecondFactor(t.Ctx, boss, false))
	t.audited(a, boss, "second_factor.require", 2)

	// A sign-in that a server of the version before began, with the password alone, does not count.
	old := identity.Session{Tenant: kit.Tenant, User: "ada", At: t.Clock.Now(), SeenAt: t.Clock.Now(), How: identity.ByPassword, ProvenAt: t.Clock.Now()}
	pending, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
	t.reason(err, app.EForbidden, app.SecondFactorReason)
	old.Mark = pending.Mark
	id, err := t.Store.BeginSession(t.Ctx, old)
	t.Must(err)
	t.reason(kit.Err(a.Identity.Sessions.ActorOfSession(t.Ctx, id, identity.Visit{})), app.EUnauthorized, app.SecondFactorReason)
	t.Clock.Move(30 * time.Second)
	t.Must(kit.Err(a.Identity.SignIns.FinishSignIn(t.Ctx, pending, identity.FactorProof{Code: apptest.Code(secret, t.Clock.Now())}, identity.Visit{})))
}

package apptest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/identity"
)

// Code is what an authenticator app with a secret shows at a time.
func Code(secret string, at time.Time) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		panic(err)
	}
	step := uint64(at.Unix() / 30)
	var msg [8]byte
	for i := range msg {
		msg[i] = byte(step >> (56 - 8*i))
	}
	h := hmac.New(sha1.New, key)
	h.Write(msg[:])
	sum := h.Sum(nil)
	o := sum[19] & 15
	n := (int(sum[o])&127)<<24 | int(sum[o+1])<<16 | int(sum[o+2])<<8 | int(sum[o+3])
	return fmt.Sprintf("%06d", n%1_000_000)
}

// local makes an account with a password of its own and signs it in.
func (t *storeTest) local(a *all.App, boss app.Actor, name string) (actor app.Actor, password string) {
	t.Helper()
	_, first, err := a.CreateUser(t.ctx, boss, identity.NewUser{Name: name, Role: app.RoleUser})
	t.must(err)
	s, err := a.SignIn(t.ctx, tenant, name, first, app.Visit{})
	t.must(err)
	password = "four words of mine"
	t.must(a.ChangePassword(t.ctx, t.actor(a, s), first, password))
	return t.actor(a, s), password
}

// actor is who a sign-in is for.
func (t *storeTest) actor(a *all.App, s app.Session) app.Actor {
	t.Helper()
	actor, err := a.ActorOfSession(t.ctx, s.ID, app.Visit{})
	t.must(err)
	return actor
}

// withApp gives an account an authenticator app, and returns its secret and the recovery codes.
func (t *storeTest) withApp(a *all.App, who app.Actor) (secret string, codes []string) {
	t.Helper()
	secret, err := a.StartAuthenticator(t.ctx, who)
	t.must(err)
	codes, err = a.ConfirmAuthenticator(t.ctx, who, Code(secret, t.clock.Now()))
	t.must(err)
	return secret, codes
}

// secondFactor follows an account from its first second factor to its last.
func (t *storeTest) secondFactor() {
	a, _, boss := t.house()
	ada, password := t.local(a, boss, "ada")
	other, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
	t.must(err)

	// Until a code was entered, there is none.
	secret, err := a.StartAuthenticator(t.ctx, ada)
	t.must(err)
	if again, err := a.StartAuthenticator(t.ctx, ada); err != nil || again != secret {
		t.Errorf("asked again: another secret, %v", err)
	}
	t.reason(second(a.ConfirmAuthenticator(t.ctx, ada, "000000")), app.EInvalid, "wrong_code")
	t.must(second(a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})))
	t.clock.Move(20 * time.Minute)
	ada.ProvenAt, ada.SeenAt = t.clock.Now(), t.clock.Now()
	t.reason(second(a.ConfirmAuthenticator(t.ctx, ada, Code(secret, t.clock.Now()))), app.EConflict, "expired")

	secret, codes := t.withApp(a, ada)
	if len(codes) != 10 {
		t.Errorf("%d recovery codes", len(codes))
	}
	t.must(second(a.ActorOfSession(t.ctx, t.id(ada), app.Visit{})))
	t.code(second(a.ActorOfSession(t.ctx, other.ID, app.Visit{})), app.EUnauthorized)
	t.reason(second(a.StartAuthenticator(t.ctx, ada)), app.EConflict, "has_app")

	// The password alone begins nothing.
	pend := func() app.Session {
		t.Helper()
		s, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
		t.reason(err, app.EForbidden, app.SecondFactorReason)
		if s.ID != 0 {
			t.Errorf("a sign-in began with the password alone: %+v", s)
		}
		return s
	}
	finish := func(p app.Session, code string) (app.Session, error) {
		return a.FinishSignIn(t.ctx, p, identity.FactorProof{Code: code}, app.Visit{From: "192.0.2.7"})
	}
	p := pend()
	t.reason(second(finish(p, "")), app.EUnauthorized, app.SecondFactorReason)
	t.reason(second(finish(p, "123")), app.EUnauthorized, "wrong_code")
	t.reason(second(finish(p, Code(secret, t.clock.Now()))), app.EUnauthorized, "wrong_code") // it confirmed the app
	t.clock.Move(30 * time.Second)
	in, err := finish(p, Code(secret, t.clock.Now()))
	t.must(err)
	if who := t.actor(a, in); who.User != "ada" {
		t.Errorf("signed in as %+v", who)
	}
	t.reason(second(finish(pend(), Code(secret, t.clock.Now()))), app.EUnauthorized, "wrong_code") // replayed

	// What was pending ends by time, with the password, and is of its account only.
	p = pend()
	t.clock.Move(identity.PendingSignIn)
	t.reason(second(finish(p, Code(secret, t.clock.Now()))), app.EUnauthorized, "expired")
	p = pend()
	p.Mark = "of another password"
	t.reason(second(finish(p, Code(secret, t.clock.Now()))), app.EUnauthorized, "expired")
	p = pend()
	p.User = "boss"
	t.reason(second(finish(p, Code(secret, t.clock.Now()))), app.EUnauthorized, "expired")

	// A recovery code works once, and its owner hears of it.
	t.must(second(finish(pend(), codes[0])))
	t.reason(second(finish(pend(), codes[0])), app.EUnauthorized, "wrong_code")
	if f, err := a.SecondFactors(t.ctx, ada); err != nil || f.Codes != 9 || len(f.Factors) != 1 || len(f.Factors[0].Secret) > 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if list, err := a.Notices(t.ctx, ada, 0, 10); err != nil || len(list) != 1 || list[0].Kind != app.NoticeAccount {
		t.Errorf("notices: %+v, %v", list, err)
	}
	fresh, err := a.ReplaceRecoveryCodes(t.ctx, ada)
	t.must(err)
	t.reason(second(finish(pend(), codes[1])), app.EUnauthorized, "wrong_code")
	in, err = finish(pend(), fresh[1])
	t.must(err)
	ada = t.actor(a, in)

	// A proof takes both.
	step := func(password, code string) error {
		return a.StepUp(t.ctx, ada, password, identity.FactorProof{Code: code})
	}
	t.clock.Move(time.Minute)
	t.reason(step(password, ""), app.EUnauthorized, app.SecondFactorReason)
	t.code(step("wrong", Code(secret, t.clock.Now())), app.EUnauthorized)
	t.must(step(password, Code(secret, t.clock.Now())))
	stale := ada
	stale.ProvenAt = t.clock.Now().Add(-app.FreshWithin - time.Second)
	stale.SeenAt = t.clock.Now()
	for name, err := range map[string]error{
		"StartAuthenticator": second(a.StartAuthenticator(t.ctx, stale)), "AddSecurityKey": second(a.AddSecurityKey(t.ctx, stale, "k", []byte("k"))),
		"RemoveSecondFactor": a.RemoveSecondFactor(t.ctx, stale, "x"), "ReplaceRecoveryCodes": second(a.ReplaceRecoveryCodes(t.ctx, stale)),
		"ChangePassword": a.ChangePassword(t.ctx, stale, password, "four other words of mine"),
	} {
		if app.AsError(err).Reason != app.StepUpReason {
			t.Errorf("%s without a fresh proof: %v", name, err)
		}
	}

	// A security key besides; the one who checks it is the face.
	if more, err := a.AddSecurityKey(t.ctx, ada, " Key ring ", []byte("public")); err != nil || more != nil {
		t.Errorf("a second one: %v, %v", more, err)
	}
	key := identity.FactorProof{Key: func(keys []identity.SecondFactor) (identity.SecondFactor, error) {
		if len(keys) != 1 || string(keys[0].Secret) != "public" || keys[0].Name != "Key ring" {
			return identity.SecondFactor{}, fmt.Errorf("keys: %+v", keys)
		}
		keys[0].Secret = []byte("public, used once")
		return keys[0], nil
	}}
	in, err = a.FinishSignIn(t.ctx, pend(), key, app.Visit{})
	t.must(err)
	if list, err := a.Sessions(t.ctx, ada, ""); err != nil || list[0].Second != identity.FactorKey {
		t.Errorf("%+v, %v", list, err)
	}
	have, err := a.SecondFactors(t.ctx, ada)
	t.must(err)
	if len(have.Factors) != 2 || string(have.Factors[1].Secret) != "public, used once" || have.Factors[1].UsedAt.IsZero() {
		t.Errorf("%+v", have)
	}

	// Without any, the password is enough again.
	t.code(a.RemoveSecondFactor(t.ctx, ada, "no such one"), app.ENotFound)
	for _, f := range have.Factors {
		t.must(a.RemoveSecondFactor(t.ctx, ada, f.ID))
	}
	t.must(second(a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})))
	if f, err := a.SecondFactors(t.ctx, ada); err != nil || f.Codes != 0 {
		t.Errorf("recovery codes are left: %+v, %v", f, err)
	}
	t.audited(a, boss, "second_factor.add", 2)
	t.audited(a, boss, "second_factor.remove", 2)
	t.audited(a, boss, "second_factor.recover", 2)
	t.audited(a, boss, "second_factor.codes", 1)
}

// audited checks how often an act is in the audit.
func (t *storeTest) audited(a *all.App, boss app.Actor, act string, want int) {
	t.Helper()
	if deeds, _, err := a.Audit(t.ctx, boss, app.AuditFilter{Act: act}); err != nil || len(deeds) != want {
		t.Errorf("the audit has %d of %s, want %d: %v", len(deeds), act, want, err)
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
	a, _, boss := t.house()
	ada, password := t.local(a, boss, "ada")
	secret, codes := t.withApp(a, ada)
	t.clock.Move(time.Minute)
	pending, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
	t.reason(err, app.EForbidden, app.SecondFactorReason)
	try := func(code string) error {
		return second(a.FinishSignIn(t.ctx, pending, identity.FactorProof{Code: code}, app.Visit{}))
	}

	// Many at the same moment with the same code: one.
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if try(Code(secret, t.clock.Now())) == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("one code opened %d sign-ins", won.Load())
	}
	t.clock.Move(30 * time.Second)
	t.must(try(Code(secret, t.clock.Now()))) // which forgets the failures

	for range identity.MostWrongCodes {
		t.reason(try("999999x"), app.EUnauthorized, "wrong_code")
	}
	if list, err := a.Notices(t.ctx, ada, 0, 10); err != nil || len(list) != 1 || list[0].Kind != app.NoticeAccount {
		t.Errorf("notices: %+v, %v", list, err)
	}
	t.clock.Move(30 * time.Second)
	t.reason(try(Code(secret, t.clock.Now())), app.ERateLimit, "too_many_codes")
	t.reason(try(codes[0]), app.ERateLimit, "too_many_codes")
	t.must(second(a.FinishSignIn(t.ctx, pending, identity.FactorProof{Key: func([]identity.SecondFactor) (identity.SecondFactor, error) { return identity.SecondFactor{}, nil }}, app.Visit{})))
	for range identity.MostWrongCodes {
		_ = try("999999x")
	}
	t.clock.Move(identity.WrongCodesWithin)
	pending, _ = a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
	t.must(try(codes[0])) // nor was it used up meanwhile
}

// lostSecondFactor is what admins do about it, and what they may ask for.
func (t *storeTest) lostSecondFactor() {
	a, root, boss := t.house()
	ada, password := t.local(a, boss, "ada")
	eve, _ := t.local(a, boss, "eve")
	t.reason(a.ResetSecondFactor(t.ctx, boss, "ada"), app.EConflict, "no_second_factor")
	t.withApp(a, ada)
	t.code(a.ResetSecondFactor(t.ctx, eve, "ada"), app.EForbidden)
	stale := boss
	stale.ProvenAt = t.clock.Now().Add(-app.FreshWithin - time.Second)
	t.reason(a.ResetSecondFactor(t.ctx, stale, "ada"), app.EForbidden, app.StepUpReason)
	t.must(a.ResetSecondFactor(t.ctx, boss, "ada"))
	t.code(second(a.ActorOfSession(t.ctx, t.id(ada), app.Visit{})), app.EUnauthorized)
	s, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
	t.must(err)
	ada = t.actor(a, s)
	if list, err := a.Notices(t.ctx, ada, 0, 10); err != nil || len(list) != 1 || list[0].Kind != app.NoticeAccount {
		t.Errorf("notices: %+v, %v", list, err)
	}
	t.audited(a, boss, "second_factor.reset", 1)

	// An admin doesn't remove those of a superadmin. One's own are removed on the account page, or with the host's token.
	t.reason(a.ResetSecondFactor(t.ctx, boss, "boss"), app.EConflict, "own")
	host := root
	host.Session, host.Token, host.ProvenAt = "", "the server's own host", time.Time{}
	t.reason(a.ResetSecondFactor(t.ctx, host, "root"), app.EConflict, "no_second_factor")

	// An account that was deleted leaves nothing to a new one of its name.
	t.withApp(a, ada)
	t.must(a.DeleteUser(t.ctx, boss, "ada", ""))
	ada, password = t.local(a, boss, "ada")
	if f, err := a.SecondFactors(t.ctx, ada); err != nil || len(f.Factors) != 0 || f.Codes != 0 {
		t.Errorf("%+v, %v", f, err)
	}

	// A tenant that requires one lets people without do nothing but add it.
	t.must(a.RequireSecondFactor(t.ctx, boss, true))
	if n, err := a.Tenant(t.ctx, boss, tenant); err != nil || !n.RequireSecondFactor {
		t.Errorf("%+v, %v", n, err)
	}
	ada = t.actor(a, app.Session{ID: t.id(ada)})
	if !ada.MustAddFactor {
		t.Error("a sign-in from before goes on without a second factor")
	}
	t.reason(second(a.Clusters(t.ctx, ada, app.ClusterFilter{})), app.EForbidden, app.MustAddReason)
	secret, _ := t.withApp(a, ada)
	ada = t.actor(a, app.Session{ID: t.id(ada)})
	t.must(second(a.Clusters(t.ctx, ada, app.ClusterFilter{})))
	sso, err := a.SignInBy(t.ctx, person("kim", identity.Grant{Tenant: tenant, Role: app.RoleUser}), "", app.Visit{})
	t.must(err)
	t.must(second(a.Clusters(t.ctx, t.actor(a, sso), app.ClusterFilter{})))
	t.reason(second(a.StartAuthenticator(t.ctx, t.actor(a, sso))), app.EConflict, "no_password")
	t.must(a.RequireSecondFactor(t.ctx, boss, false))
	t.audited(a, boss, "second_factor.require", 2)

	// A sign-in that a server of the version before began, with the password alone, does not count.
	old := app.Session{Tenant: tenant, User: "ada", At: t.clock.Now(), SeenAt: t.clock.Now(), How: app.ByPassword, ProvenAt: t.clock.Now()}
	pending, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
	t.reason(err, app.EForbidden, app.SecondFactorReason)
	old.Mark = pending.Mark
	id, err := t.s.BeginSession(t.ctx, old)
	t.must(err)
	t.reason(second(a.ActorOfSession(t.ctx, id, app.Visit{})), app.EUnauthorized, app.SecondFactorReason)
	t.clock.Move(30 * time.Second)
	t.must(second(a.FinishSignIn(t.ctx, pending, identity.FactorProof{Code: Code(secret, t.clock.Now())}, app.Visit{})))
}

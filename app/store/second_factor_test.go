package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/app/store"
)

// Second factors open after the key was rotated. Where it is lost, a recovery code is the way in.
func TestSecondFactorsAfterKeyRotationAndLoss(t *testing.T) {
	file := filepath.Join(t.TempDir(), "muster.db")
	s := openBy(t, file, keeper(t, 1))
	now := time.Now()
	a := all.New(all.Config{Store: s, Now: func() time.Time { return now }})
	password := "four words of mine"
	if err := s.CreateUser(t.Context(), identity.User{Tenant: "t", Name: "ada", Role: app.RoleUser, PasswordHash: identity.HashPassword(password), CreatedAt: now}); err != nil {
		t.Fatal(err)
	}
	in, err := a.Identity.SignIns.SignIn(t.Context(), "t", "ada", password, identity.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	ada, err := a.Identity.Sessions.ActorOfSession(t.Context(), in.ID, identity.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := a.Identity.Factors.StartAuthenticator(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := a.Identity.Factors.ConfirmAuthenticator(t.Context(), ada, apptest.Code(secret, now))
	if err != nil {
		t.Fatal(err)
	}
	finish := func(code string) error {
		pending, err := a.Identity.SignIns.SignIn(t.Context(), "t", "ada", password, identity.Visit{})
		if app.AsError(err).Reason != app.SecondFactorReason {
			t.Fatal(err)
		}
		_, err = a.Identity.SignIns.FinishSignIn(t.Context(), pending, identity.FactorProof{Code: code}, identity.Visit{})
		return err
	}

	if lost, err := s.RotateKeys(t.Context(), func(int, int) {}); err != nil || lost != 0 {
		t.Fatal(lost, err)
	}
	if _, others, uses := under(t, s); others != 0 {
		t.Errorf("left behind by the rotation: %+v", uses)
	}
	now = now.Add(30 * time.Second)
	if err := finish(apptest.Code(secret, now)); err != nil {
		t.Errorf("after the rotation: %v", err)
	}

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	say(t, file, `DELETE FROM settings WHERE name = 'key_check'`)
	s, err = store.OpenWith(t.Context(), file, keeper(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a = all.New(all.Config{Store: s, Now: func() time.Time { return now }})
	now = now.Add(30 * time.Second)
	if err := finish(apptest.Code(secret, now)); app.AsError(err).Reason != "wrong_code" {
		t.Errorf("with a lost key: %v", err)
	}
	if err := finish(codes[0]); err != nil {
		t.Errorf("a recovery code with a lost key: %v", err)
	}
	if have, err := a.Identity.Factors.SecondFactors(t.Context(), ada); err != nil || len(have.Factors) != 1 {
		t.Errorf("%+v, %v", have, err)
	}
}

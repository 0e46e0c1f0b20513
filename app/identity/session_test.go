package identity

import (
	"testing"
	"time"

	"muster/app"
	"pgregory.net/rapid"
)

// TestSessionsEnd checks with any times of use that a sign-in counts exactly until it was idle for too long, or is too old.
func TestSessionsEnd(t *testing.T) {
	begun := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	u := User{Tenant: "t", Name: "ada", Role: app.RoleUser, PasswordHash: "x", CreatedAt: begun}
	rapid.Check(t, func(t *rapid.T) {
		s := Session{Tenant: "t", User: "ada", At: begun, SeenAt: begun, Mark: u.passwordMark()}
		now := begun
		for range 60 {
			now = now.Add(time.Duration(rapid.IntRange(0, 14*60).Draw(t, "minutes")) * time.Minute)
			good := now.Sub(s.SeenAt) < SessionIdle && now.Sub(begun) < SessionLife
			if err := s.Over(u, now); good != (err == nil) {
				t.Fatalf("after %s, last used %s before, it is over: %v", now.Sub(begun), now.Sub(s.SeenAt), err)
			}
			if good != now.Before(s.Ends()) {
				t.Fatalf("it is said to end at %s", s.Ends())
			}
			if !good {
				return
			}
			s.SeenAt = now
		}
	})
}

func TestWhatEndsASignIn(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	good := User{Tenant: "t", Name: "ada", Role: app.RoleUser, PasswordHash: "x", CreatedAt: now}
	s := Session{Tenant: "t", User: "ada", At: now, SeenAt: now, Mark: good.passwordMark()}
	for reason, spoil := range map[string]func(*Session, *User){
		"":                 func(*Session, *User) {},
		"revoked":          func(s *Session, _ *User) { s.RevokedAt = now },
		"account_gone":     func(_ *Session, u *User) { u.CreatedAt = now.Add(time.Microsecond) },
		"password_changed": func(_ *Session, u *User) { u.PasswordHash = "y" },
		"disabled":         func(_ *Session, u *User) { u.DisabledAt = now },
		"robot":            func(_ *Session, u *User) { u.Role = app.RoleRobot },
		"expired":          func(s *Session, _ *User) { s.SeenAt = now.Add(-SessionIdle) },
	} {
		s, u := s, good
		spoil(&s, &u)
		err := s.Over(u, now)
		if got := app.AsError(err).Reason; reason != "" && (got != reason || app.CodeOf(err) != app.EUnauthorized) || reason == "" && err != nil {
			t.Errorf("%q returns %v", reason, err)
		}
	}
	if (User{}).passwordMark() == good.passwordMark() || len(good.passwordMark()) < 20 {
		t.Error("marks do not tell passwords apart")
	}
}

func TestFresh(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		a     app.Actor
		fresh bool
	}{
		{"never", app.Actor{Session: "1"}, false},
		{"just now", app.Actor{Session: "1", ProvenAt: now}, true},
		{"at the limit", app.Actor{Session: "1", ProvenAt: now.Add(-app.FreshWithin)}, true},
		{"beyond it", app.Actor{Session: "1", ProvenAt: now.Add(-app.FreshWithin - 1)}, false},
		{"by a clock that is ahead a little", app.Actor{Session: "1", ProvenAt: now.Add(30 * time.Second)}, true},
		{"in the future", app.Actor{Session: "1", ProvenAt: now.Add(time.Hour)}, false},
		{"a token", app.Actor{Token: "ci", ProvenAt: now}, false},
	} {
		if got := c.a.Fresh(now, app.FreshWithin); got != c.fresh {
			t.Errorf("%s: fresh is %v", c.name, got)
		}
		err := c.a.MustBeFresh(now, app.FreshWithin)
		if c.fresh != (err == nil) || err != nil && (app.CodeOf(err) != app.EForbidden || app.AsError(err).Reason != app.StepUpReason) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestAccountsAreForPeople checks that no token reaches a use case of the own account, whatever its scopes.
func TestAccountsAreForPeople(t *testing.T) {
	now := time.Now()
	n := 0
	for name, p := range app.PermissionTable {
		if p.Scope != app.ScopeAccount {
			continue
		}
		n++
		for _, r := range app.Roles {
			for _, scopes := range [][]app.Scope{nil, app.TokenScopes, {app.ScopeAccount}} {
				if err := (app.Actor{Tenant: "t", User: "ada", Role: r, Token: "ci", Scopes: scopes}).Authorize(name); app.CodeOf(err) != app.EForbidden {
					t.Errorf("a token of a %s with %v may %s", r, scopes, name)
				}
			}
		}
		if err := (app.Actor{Tenant: "t", User: "bot", Role: app.RoleRobot, Session: "1"}).Authorize(name); err == nil {
			t.Errorf("a robot may %s", name)
		}
		if err := (app.Actor{Tenant: "t", User: "ada", Role: app.RoleViewer, Session: "1", ProvenAt: now, SeenAt: now, MustChange: true}).Authorize(name); err != nil {
			t.Errorf("who must change the password may not %s: %v", name, err)
		}
	}
	if n < 10 {
		t.Errorf("only %d use cases are about the own account", n)
	}
}

func TestPasswordsThatAreChosen(t *testing.T) {
	for wanted, good := range map[string]bool{
		"four words of mine": true, "correct horse battery staple": true, "kNz7-Qf2m-xx9!": true, "пароль из слов": true,
		"short": false, "": false, "aaaaaaaaaaaaaaaa": false, "abababababababab": false, "Password12345": false, "ada.lovelace.1": false, "abcdefghijklmn": false,
		"12345678901234": false, "muster-muster-1": false, "bad\xffutf8 with words": false,
	} {
		if err := passwordGood("ada.lovelace", wanted); good != (err == nil) {
			t.Errorf("%q: %v", wanted, err)
		}
	}
}

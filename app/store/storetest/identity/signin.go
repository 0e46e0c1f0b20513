package identity

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
)

// signed is a sign-in as it should be.
type signed struct {
	id       int64
	user     string
	at, seen time.Time
	password int // how often the account's had been changed
	revoked  bool
}

func person(name string, grants ...identity.Grant) identity.Subject {
	return identity.Subject{Provider: "sso", Label: "SSO", Issuer: "https://sso.example", ID: "id-" + name, Name: name, Grants: grants}
}

// signIns lets people sign in, work, wait, be signed out, disabled and change passwords at random, and checks at each moment
// which sign-ins count.
func (t *storeTest) signIns() {
	a, _, boss := t.services()
	grant := identity.Grant{Tenant: kit.Tenant, Role: app.RoleUser}
	users := []string{"ada", "eve"}
	for seed := range apptest.Rounds(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		var all []*signed
		passwords, disabled := map[string]int{}, map[string]bool{}
		for _, u := range users {
			_, err := a.Identity.SignIns.SignInBy(t.Ctx, person(u, grant), "", identity.Visit{})
			t.Must(err)
		}
		counts := func(s *signed) bool {
			now := t.Clock.Now()
			return !s.revoked && !disabled[s.user] && s.password == passwords[s.user] && now.Before(s.seen.Add(identity.SessionIdle)) && now.Before(s.at.Add(identity.SessionLife))
		}
		check := func(s *signed, why string) {
			t.Helper()
			actor, err := a.Identity.Sessions.ActorOfSession(t.Ctx, s.id, identity.Visit{From: "10.0.0.1"})
			if counts(s) != (err == nil) {
				t.Fatalf("seed %d: %s: sign-in %+v counts: %v, but the answer is %v", seed, why, *s, counts(s), err)
			}
			if err != nil {
				t.Code(err, app.EUnauthorized)
				return
			}
			if actor.User != s.user || actor.Tenant != kit.Tenant || actor.Session != strconv.FormatInt(s.id,
				10) || actor.From != "10.0.0.1" || actor.Via != app.ViaPortal {
				t.Fatalf("seed %d: %s: the actor is %+v", seed, why, actor)
			}
			if t.Clock.Now().Sub(s.seen) >= time.Minute {
				s.seen = t.Clock.Now()
			}
		}
		for step := range 60 {
			user := users[r.IntN(len(users))]
			why := fmt.Sprintf("step %d", step)
			switch n := r.IntN(12); {
			case n < 3 && !disabled[user]:
				s, err := a.Identity.SignIns.SignInBy(t.Ctx, person(user, grant), kit.Tenant, identity.Visit{From: "10.0.0.1", Browser: "a test"})
				t.Must(err)
				all = append(all, &signed{id: s.ID, user: user, at: t.Clock.Now(), seen: t.Clock.Now(), password: passwords[user]})
			case n < 3:
				_, err := a.Identity.SignIns.SignInBy(t.Ctx, person(user, grant), kit.Tenant, identity.Visit{})
				t.reason(err, app.EUnauthorized, "disabled")
			case n < 6:
				t.Clock.Move(time.Duration(r.IntN(8)*r.IntN(200)) * time.Minute)
			case n == 6 && len(all) > 0:
				s := all[r.IntN(len(all))]
				err := a.Identity.Sessions.RevokeSession(t.Ctx, boss, s.user, s.id)
				if s.revoked {
					t.Code(err, app.ENotFound)
				} else {
					t.Must(err)
				}
				s.revoked = true
			case n == 7 && len(all) > 0:
				s := all[r.IntN(len(all))]
				t.Must(a.Identity.Sessions.SignOut(t.Ctx, s.id))
				s.revoked = true
			case n == 8 && r.IntN(4) == 0:
				passwords[user]++
				t.Must(t.Store.SetPassword(t.Ctx, boss, user, fmt.Sprintf("%d/%d", seed, passwords[user]), t.Clock.Now()))
			case n == 9 && r.IntN(3) == 0:
				off := !disabled[user]
				t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, user, identity.UserChange{Disabled: &off})))
				disabled[user] = off
				for _, o := range all {
					o.revoked = o.revoked || off && o.user == user
				}
			case n == 10 && len(all) > 0:
				// One of them ends all others of its user.
				s := all[r.IntN(len(all))]
				check(s, why)
				if !counts(s) {
					continue
				}
				actor, err := a.Identity.Sessions.ActorOfSession(t.Ctx, s.id, identity.Visit{})
				t.Must(err)
				t.Must(kit.Err(a.Identity.Sessions.RevokeAllSessions(t.Ctx, actor, "")))
				for _, o := range all {
					o.revoked = o.revoked || o.user == s.user && o != s
				}
			}
			for _, s := range all {
				if r.IntN(2) == 0 {
					check(s, why)
				}
			}
			// What is listed is what counts.
			want := 0
			for _, s := range all {
				if s.user == user && counts(s) {
					want++
				}
			}
			list, err := a.Identity.Sessions.Sessions(t.Ctx, boss, user)
			t.Must(err)
			got := 0
			for _, s := range list {
				for _, o := range all {
					if o.id == s.ID {
						got++
					}
				}
			}
			if got != want {
				t.Fatalf("seed %d: %s: %d sign-ins of %s are listed, %d count", seed, why, got, user, want)
			}
		}
		// The next seed begins with accounts that can sign in, and with no one signed in.
		on := false
		for _, u := range users {
			if disabled[u] {
				t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, u, identity.UserChange{Disabled: &on})))
			}
			t.Must(kit.Err(a.Identity.Sessions.RevokeAllSessions(t.Ctx, boss, u)))
		}
	}
}

// persons of identity providers: accounts made once, brought up to date, never someone else's, dismissed.
func (t *storeTest) persons() {
	a, root, boss := t.services()
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: "t2", Name: "kim", Role: app.RoleAdmin, PasswordHash: "x", CreatedAt: t.Clock.Now()}))
	ops := identity.Grant{Tenant: kit.Tenant, Role: app.RoleUser, Groups: []string{"builders", "ops"}}
	other := identity.Grant{Tenant: "t2", Role: app.RoleViewer}

	// Ten first sign-ins at once make one account.
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() { _, errs[i] = a.Identity.SignIns.SignInBy(t.Ctx, person("ada", ops), "", identity.Visit{}) })
	}
	wg.Wait()
	for _, err := range errs {
		t.Must(err)
	}
	u, err := t.Store.User(t.Ctx, kit.Tenant, "ada")
	t.Must(err)
	if u.PasswordHash != "" || u.CreatedBy != "sso" || strings.Join(u.Groups, " ") != "builders ops" {
		t.Errorf("made: %+v", u)
	}
	if list, err := a.Identity.Sessions.Sessions(t.Ctx, boss, "ada"); err != nil || len(list) != 10 {
		t.Errorf("%d sign-ins: %v", len(list), err)
	}

	// Several tenants: one must be named, and only one of them.
	both := person("ada", ops, other)
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, both, "", identity.Visit{})
	t.reason(err, app.EConflict, "choose_tenant")
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, both, app.DefaultTenant, identity.Visit{})
	t.reason(err, app.EForbidden, "no_grant")
	t.Must(kit.Err(a.Identity.SignIns.SignInBy(t.Ctx, both, "t2", identity.Visit{})))

	// The name of another account is not taken, no matter who asks.
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, person("kim", other), "", identity.Visit{})
	t.reason(err, app.EConflict, "name_taken")
	impostor := person("ada", ops)
	impostor.ID = "id-of-another-ada"
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, impostor, "", identity.Visit{})
	t.reason(err, app.EConflict, "name_taken")
	impostor = person("ada", ops)
	impostor.Issuer = "https://other.example"
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, impostor, "", identity.Visit{})
	t.reason(err, app.EConflict, "name_taken")
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, person("Not A Name", ops), "", identity.Visit{})
	t.reason(err, app.EForbidden, "name")
	_, err = a.Identity.SignIns.SignInBy(t.Ctx, person("bob", identity.Grant{Tenant: "nowhere", Role: app.RoleUser}), "", identity.Visit{})
	t.reason(err, app.ENotFound, "no_tenant")

	// Claims change role and groups of existing sign-ins, and leave alone what people set here.
	t.Must(kit.Err(a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "data"})))
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Groups: &[]string{"data"}})))
	s, err := a.Identity.SignIns.SignInBy(t.Ctx, person("ada", identity.Grant{Tenant: kit.Tenant, Role: app.RoleApprover, Groups: []string{"ops"}}), "",
		identity.Visit{})
	t.Must(err)
	actor, err := a.Identity.Sessions.ActorOfSession(t.Ctx, s.ID, identity.Visit{})
	t.Must(err)
	if actor.Role != app.RoleApprover || strings.Join(actor.Groups, " ") != "data ops" {
		t.Errorf("after the claims changed: %+v", actor)
	}

	// Who has lost a tenant is out of it, with tokens and groups; the other tenant stays.
	t.Must(kit.Err(a.Identity.SignIns.SignInBy(t.Ctx, both, "t2", identity.Visit{})))
	_, token, err := a.Identity.Tokens.CreateToken(t.Ctx, actor, identity.NewAPIToken{Label: "ci", Days: 1})
	t.Must(err)
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, token, "")))
	t.Must(kit.Err(a.Identity.SignIns.SignInBy(t.Ctx, person("ada", other), "", identity.Visit{})))
	_, err = a.Identity.Sessions.ActorOfSession(t.Ctx, s.ID, identity.Visit{})
	t.reason(err, app.EUnauthorized, "revoked")
	_, err = a.Identity.Tokens.ActorOfToken(t.Ctx, token, "")
	t.Code(err, app.EUnauthorized)
	if u, err = t.Store.User(t.Ctx, kit.Tenant, "ada"); err != nil || strings.Join(u.Groups, " ") != "data" {
		t.Errorf("groups are left: %v, %v", u.Groups, err)
	}
	kim := root
	kim.Tenant, kim.Home = "t2", app.DefaultTenant
	if list, err := a.Identity.Sessions.Sessions(t.Ctx, kim, "ada"); err != nil || len(list) != 2 {
		t.Errorf("%d sign-ins are left in the other tenant: %v", len(list), err)
	}
}

// identities elsewhere: a link works once, however many try it at once.
func (t *storeTest) identities() {
	a, _, _ := t.services()
	grant := identity.Grant{Tenant: kit.Tenant, Role: app.RoleUser}
	enter := func(name string) app.Actor {
		s, err := a.Identity.SignIns.SignInBy(t.Ctx, person(name, grant), "", identity.Visit{})
		t.Must(err)
		actor, err := a.Identity.Sessions.ActorOfSession(t.Ctx, s.ID, identity.Visit{})
		t.Must(err)
		return actor
	}
	people := []app.Actor{enter("ada"), enter("eve"), enter("kim")}
	link, err := a.Identity.Links.LinkStart(t.Ctx, "slack", "T1/U1", "Slack user U1")
	t.Must(err)
	_, token, _ := strings.Cut(link.Query, "token=")
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Go(func() { _, errs[i] = a.Identity.Links.ConfirmLink(t.Ctx, people[i%3], token) })
	}
	wg.Wait()
	linked, winner := 0, ""
	for i, err := range errs {
		if err == nil {
			linked, winner = linked+1, people[i%3].User
			continue
		}
		t.reason(err, app.EConflict, "used")
	}
	who, err := a.Identity.Links.ActorOfIdentity(t.Ctx, "slack", "T1/U1")
	t.Must(err)
	if linked != 1 || who.User != winner || who.Tenant != kit.Tenant || who.Session != "" || !who.ProvenAt.IsZero() {
		t.Errorf("a link was used %d times, lastly by %s, and returns %+v", linked, winner, who)
	}
	_, err = a.Identity.Links.ActorOfIdentity(t.Ctx, "irc", "T1/U1")
	t.reason(err, app.EUnauthorized, "not_linked")
	for _, p := range people {
		list, err := a.Identity.Links.Identities(t.Ctx, p, "")
		t.Must(err)
		if (len(list) == 1) != (p.User == winner) {
			t.Errorf("%s has %d identities", p.User, len(list))
		}
	}
	stale := people[0]
	stale.ProvenAt = t.Clock.Now().Add(-app.FreshWithin - time.Second)
	_, err = a.Identity.Links.ConfirmLink(t.Ctx, stale, token)
	t.reason(err, app.EForbidden, app.StepUpReason)
	bot := people[0]
	bot.Session, bot.Token = "", "ci"
	_, err = a.Identity.Links.ConfirmLink(t.Ctx, bot, token)
	t.Code(err, app.EForbidden)
}

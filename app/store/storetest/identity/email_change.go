package identity

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/identity"
	"muster/app/notification"
	"muster/app/store/storetest/kit"
)

// mail claims what is due and ends it as sent; it returns each as "kind address", and the token of the last link.
func (t *storeTest) mail(want ...string) (token string) {
	t.Helper()
	due, _, err := t.Store.ClaimEmails(t.Ctx, notification.EmailClaim{Holder: "m", Now: t.Clock.Now(), For: time.Minute, Most: 20})
	t.Must(err)
	var got []string
	for _, e := range due {
		state := notification.EmailSent
		if e.To == "" {
			state = notification.EmailDropped
		}
		t.Must(t.Store.EndEmail(t.Ctx, notification.EmailEnd{Email: e, State: state}))
		got = append(got, string(e.Address.Kind)+" "+e.To)
		if e.Address.Token != "" {
			token = e.Address.Token
		}
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Fatalf("sent %q, want %q", got, want)
	}
	return token
}

// has checks an account's address and the one that waits.
func (t *storeTest) has(a *all.Services, who app.Actor, address, pending string) identity.OwnEmail {
	t.Helper()
	o, err := a.Identity.Emails.OwnEmail(t.Ctx, who)
	if t.Must(err); o.Address != address || o.Pending.Address != pending {
		t.Fatalf("%s has %q and waits for %q, want %q and %q", who.User, o.Address, o.Pending.Address, address, pending)
	}
	return o
}

// fresh is an actor that has just authenticated, as time passes.
func (t *storeTest) fresh(who app.Actor) app.Actor {
	who.ProvenAt, who.SeenAt = t.Clock.Now(), t.Clock.Now()
	return who
}

// emailChange follows addresses from being entered to being confirmed, by the right person with the right link, once.
func (t *storeTest) emailChange() {
	a, _, boss := t.services()
	e := a.Identity.Emails
	ada, _ := t.local(a, boss, "ada")
	eve, _ := t.local(a, boss, "eve")
	t.reason(e.ChangeEmail(t.Ctx, ada, "ada@example.com"), app.EConflict, "no_email")
	t.Must(t.Store.KeepEmail(t.Ctx, "s", t.Clock.Now()))
	t.reason(e.ResendEmail(t.Ctx, ada), app.EConflict, "no_change")
	t.reason(e.CancelEmailChange(t.Ctx, ada), app.EConflict, "no_change")
	for _, bad := range []string{"", "ada", "Ada <ada@example.com>", "a@example.com, b@example.com", "a@example.com\r\nBcc: b@example.com", "a\x00@example.com",
		"a\u202eb@example.com", "a\u0085b@example.com", strings.Repeat("a", 250) + "@example.com"} {
		t.reason(e.ChangeEmail(t.Ctx, ada, bad), app.EInvalid, "")
	}

	// An address that another account has isn't refused, nor said to be taken.
	t.Must(e.ChangeEmail(t.Ctx, ada, "boss@example.com"))
	t.has(a, ada, "", "boss@example.com")
	stolen := t.mail("confirm boss@example.com")
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, eve, stolen)), app.EConflict, "invalid_link")

	// The newest link of the newest address counts.
	t.Must(e.ChangeEmail(t.Ctx, ada, "ada@example.com"))
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, stolen)), app.EConflict, "invalid_link")
	first := t.mail("confirm ada@example.com")
	t.Must(e.ResendEmail(t.Ctx, ada))
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, first)), app.EConflict, "invalid_link")
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, "")), app.EConflict, "invalid_link") // the hash of nothing is that of none
	token := t.mail("confirm ada@example.com")
	if o := t.has(a, ada, "", "ada@example.com"); !o.Pending.Sent {
		t.Errorf("the email wasn't sent: %+v", o.Pending)
	}
	list, _, err := a.Identity.Users.Users(t.Ctx, boss, identity.UserFilter{})
	if err != nil || fmt.Sprint(list[0].PendingEmail, list[1].PendingEmail) != "ada@example.com" {
		t.Errorf("admins see %+v, %v", list, err)
	}
	t.reason(kit.Err(e.ShowEmailChange(t.Ctx, eve, token)), app.EConflict, "invalid_link")
	if shown, err := e.ShowEmailChange(t.Ctx, ada, token); err != nil || shown != "ada@example.com" {
		t.Errorf("the link shows %q, %v", shown, err)
	}
	t.has(a, ada, "", "ada@example.com") // looking at it confirms nothing
	if _, err := e.ConfirmEmail(t.Ctx, ada, token); err != nil {
		t.Fatal(err)
	}
	t.has(a, ada, "ada@example.com", "")
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, token)), app.EConflict, "invalid_link")
	t.mail() // there was no old address
	t.reason(e.ChangeEmail(t.Ctx, ada, "ada@example.com"), app.EConflict, "same")

	// The old address is notified.
	t.Clock.Move(2 * time.Hour)
	ada = t.fresh(ada)
	t.Must(e.ChangeEmail(t.Ctx, ada, "ada@example.org"))
	t.Must(kit.Err(e.ConfirmEmail(t.Ctx, ada, t.mail("confirm ada@example.org"))))
	t.mail("changed ada@example.com")
	t.has(a, ada, "ada@example.org", "")
	t.emailAudit("email.request email.request email.request email.confirm email.request email.confirm")
}

// emailAudit checks which changes of addresses are in the audit log, oldest first.
func (t *storeTest) emailAudit(want string) {
	t.Helper()
	list, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Limit: 100})
	t.Must(err)
	var got []string
	for _, e := range list {
		if strings.HasPrefix(e.Act, "email.") {
			got = append([]string{e.Act}, got...)
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
}

// emailEnds: what makes a link end, and who has none.
func (t *storeTest) emailEnds() {
	a, _, boss := t.services()
	e := a.Identity.Emails
	t.Must(t.Store.KeepEmail(t.Ctx, "s", t.Clock.Now()))
	ada, _ := t.local(a, boss, "ada")
	keep := func() { t.Must(t.Store.KeepEmail(t.Ctx, "s", t.Clock.Now())); ada = t.fresh(ada) }

	t.Must(e.ChangeEmail(t.Ctx, ada, "a@example.com"))
	token := t.mail("confirm a@example.com")
	t.Clock.Move(identity.EmailLinkLife)
	keep()
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, token)), app.EConflict, "expired")
	t.has(a, ada, "", "")
	t.reason(e.ResendEmail(t.Ctx, ada), app.EConflict, "no_change")

	t.Must(e.ChangeEmail(t.Ctx, ada, "b@example.com"))
	token = t.mail("confirm b@example.com")
	t.Must(e.CancelEmailChange(t.Ctx, ada))
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, token)), app.EConflict, "invalid_link")
	t.has(a, ada, "", "")

	// What an admin sets replaces it, also before the email was sent.
	t.Must(e.ChangeEmail(t.Ctx, ada, "c@example.com"))
	set := "set@example.com"
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Email: &set})))
	t.mail()
	t.has(a, ada, "set@example.com", "")

	// An email that is canceled while it's claimed is a dead letter, and its end is no one's.
	t.Must(e.ChangeEmail(t.Ctx, ada, "d@example.com"))
	due, _, err := t.Store.ClaimEmails(t.Ctx, notification.EmailClaim{Holder: "m", Now: t.Clock.Now(), For: time.Minute, Most: 20})
	if t.Must(err); len(due) != 1 {
		t.Fatalf("%d emails", len(due))
	}
	t.Must(e.CancelEmailChange(t.Ctx, ada))
	t.Code(t.Store.EndEmail(t.Ctx, notification.EmailEnd{Email: due[0], State: notification.EmailSent}), app.EStale)
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, ada, due[0].Address.Token)), app.EConflict, "invalid_link")

	// An account that is created again under the name has nothing of the old one.
	t.Must(e.ChangeEmail(t.Ctx, ada, "e@example.com"))
	token = t.mail("confirm e@example.com")
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", ""))
	again, _ := t.local(a, boss, "ada")
	t.reason(kit.Err(e.ConfirmEmail(t.Ctx, again, token)), app.EConflict, "invalid_link")
	t.has(a, again, "", "")

	// Addresses of identity providers are theirs.
	p := person("kim", identity.Grant{Tenant: kit.Tenant, Role: app.RoleUser})
	p.Email = "kim@example.com"
	s, err := a.Identity.SignIns.SignInBy(t.Ctx, p, "", identity.Visit{})
	t.Must(err)
	kim := t.actor(a, s)
	if o := t.has(a, kim, "kim@example.com", ""); o.Provider != "sso" {
		t.Errorf("it comes from %q", o.Provider)
	}
	t.reason(e.ChangeEmail(t.Ctx, kim, "kim@example.org"), app.EConflict, "managed")

	// A stale sign-in has to be proved again, and programs may not.
	stale := again
	stale.ProvenAt = t.Clock.Now().Add(-app.FreshWithin - time.Second)
	t.reason(e.ChangeEmail(t.Ctx, stale, "f@example.com"), app.EForbidden, app.StepUpReason)
	bot := again
	bot.Session, bot.Token = "", "ci"
	t.Code(e.ChangeEmail(t.Ctx, bot, "f@example.com"), app.EForbidden)
}

// emailLimits: no one is flooded, neither by one person nor by many.
func (t *storeTest) emailLimits() {
	a, _, boss := t.services()
	e := a.Identity.Emails
	t.Must(t.Store.KeepEmail(t.Ctx, "s", t.Clock.Now()))
	ada, _ := t.local(a, boss, "ada")
	eve, _ := t.local(a, boss, "eve")
	for i := range identity.MostPersonEmails {
		t.Must(e.ChangeEmail(t.Ctx, ada, fmt.Sprintf("a%d@example.com", i)))
		t.Must(e.CancelEmailChange(t.Ctx, ada)) // which doesn't help
		t.Clock.Move(time.Minute)
	}
	over := e.ChangeEmail(t.Ctx, ada, "another@example.com")
	t.Code(over, app.ERateLimit)
	if wait := app.AsError(over).RetryAfter; wait != 56*time.Minute {
		t.Errorf("ada may try again in %s", wait)
	}
	t.has(a, ada, "", "")
	t.Clock.Move(55 * time.Minute)
	ada, eve = t.fresh(ada), t.fresh(eve)
	t.Must(e.ChangeEmail(t.Ctx, ada, "victim@example.com"))
	t.Must(e.ChangeEmail(t.Ctx, eve, "Victim@example.com"))
	t.Must(e.ResendEmail(t.Ctx, eve))
	t.Code(e.ResendEmail(t.Ctx, eve), app.ERateLimit)
	t.Code(e.ChangeEmail(t.Ctx, eve, "VICTIM@example.com"), app.ERateLimit)
	t.has(a, eve, "", "Victim@example.com") // and what waits isn't lost
	t.Clock.Move(identity.EmailLimitTime)
	t.Must(e.ResendEmail(t.Ctx, t.fresh(eve)))
}

package chat

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/chat"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
)

// linked ties someone of a chat to an account.
func (t *storeTest) linked(user, external string) {
	t.Helper()
	hash := identity.HashToken(strings.ToLower(user + external))
	now := t.Clock.Now()
	t.Must(t.Store.SaveLink(t.Ctx, hash, identity.Link{Kind: "slack", External: external, Label: user, At: now, ExpiresAt: now.Add(identity.LinkLife)}))
	_, err := t.Store.UseLink(t.Ctx, app.Actor{Tenant: kit.Tenant, User: user}, hash, now)
	t.Must(err)
}

// chatTells: each notice is reported once to each person of the chat whom it names, and homes of those it is about become stale.
func (t *storeTest) chatTells() {
	for _, u := range []string{"ada", "eve", "zoe"} {
		t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: u, Role: app.RoleUser, PasswordHash: "x", CreatedAt: t.Clock.Now()}))
	}
	t.Clock.Move(time.Second)
	t.linked("ada", "T1/U1")
	t.linked("ada", "T2/U9")
	t.linked("eve", "T1/U2")
	notify := func(kind app.NoticeKind, title string, users ...string) {
		t.Must(t.Store.Notify(t.Ctx, app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: kind, Title: title, Users: users, Groups: []string{"ops"}}))
	}
	gather := func(more ...app.NoticeKind) {
		t.Helper()
		t.Must(t.Store.CollectChatNotices(t.Ctx, "slack", append(more, app.NoticeLease, app.NoticeApproval), t.Clock.Now(), t.Clock.Now().Add(-time.Hour)))
	}
	due := func(team string, want ...string) []chat.DM {
		t.Helper()
		list, err := t.Store.ChatDMs(t.Ctx, "slack", team, t.Clock.Now(), 10)
		t.Must(err)
		var got []string
		for _, c := range list {
			got = append(got, c.Team+"/"+c.Person+" "+c.User+" "+c.Notice.Title)
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Fatalf("due are %q, not %q", got, want)
		}
		return list
	}
	notify(app.NoticeLease, "one", "ada", "ada", "zoe")
	notify(app.NoticeHook, "not of a kind that is sent", "ada")
	notify(app.NoticeApproval, "two", "eve")
	notify(app.NoticeLease, "of no user")
	gather()
	gather()
	due("T1", "T1/U1 ada one", "T1/U2 eve two")
	due("", "T1/U1 ada one", "T2/U9 ada one", "T1/U2 eve two")
	if list, err := t.Store.ChatDMs(t.Ctx, "other", "", t.Clock.Now(), 10); err != nil || len(list) != 0 {
		t.Errorf("another chat has %v, %v", list, err)
	}

	// One of two servers sends it; where that one dies, another manages it later.
	c := due("T2", "T2/U9 ada one")[0]
	begin := func(c chat.DM) bool {
		t.Helper()
		mine, err := t.Store.BeginDM(t.Ctx, c, t.Clock.Now(), t.Clock.Now().Add(time.Minute))
		t.Must(err)
		return mine
	}
	began := t.Clock.Now()
	if !begin(c) || begin(c) {
		t.Fatal("both send it, or neither")
	}
	due("T2")
	t.Clock.Move(2 * time.Minute)
	again := due("T2", "T2/U9 ada one")[0]
	if again.State != chat.ChatDMSending || again.Tries != 1 || !again.BeganAt.Equal(began.Truncate(time.Microsecond)) {
		t.Errorf("what was begun is %+v", again)
	}
	if begin(c) || !begin(again) {
		t.Fatal("the one who was too slow sends it, or the other does not")
	}
	t.Must(t.Store.EndDM(t.Ctx, again.ID, chat.ChatDMWaiting, t.Clock.Now().Add(time.Minute)))
	due("T2")
	t.Clock.Move(time.Hour)
	t.Must(t.Store.EndDM(t.Ctx, again.ID, chat.ChatDMSent, t.Clock.Now()))
	t.Must(t.Store.EndDM(t.Ctx, again.ID, chat.ChatDMWaiting, t.Clock.Now())) // too late
	due("T2")
	gather()
	due("T2")

	// What is old is forgotten, and what comes then is reported.
	t.Clock.Move(2 * time.Hour)
	notify(app.NoticeLease, "three", "eve")
	gather()
	due("", "T1/U2 eve three")

	// Who is asked by a group is notified too, and once.
	t.Clock.Move(2 * time.Hour)
	a := app.Actor{Tenant: kit.Tenant, User: "root", Role: app.RoleAdmin}
	t.Must(kit.Err(t.Store.SaveGroup(t.Ctx, a, identity.GroupChange{Name: "ops"}, t.Clock.Now())))
	groups := []string{"ops"}
	t.Must(kit.Err(t.Store.ChangeUser(t.Ctx, a, "ada", identity.UserChange{Groups: &groups}, t.Clock.Now())))
	notify(app.NoticeLease, "not for groups", "zoe")
	t.Must(t.Store.Notify(t.Ctx, app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: app.NoticeManualStep, Title: "four",
		Users: []string{"ada", "eve"}, Groups: groups}))
	gather(app.NoticeManualStep)
	due("", "T1/U1 ada four", "T2/U9 ada four", "T1/U2 eve four")
}

func (t *storeTest) chatHomes() {
	now := t.Clock.Now()
	owner := apptest.NewCluster(kit.Tenant, "any", 1, now, apptest.Chain(1)).Cluster.Owner
	home := chat.Home{Kind: "slack", Team: "T1", Person: "U1", Tenant: kit.Tenant, User: owner, Shown: "a", ShownAt: now, OpenedAt: now}
	other := chat.Home{Kind: "slack", Team: "T1", Person: "U2", Tenant: kit.Tenant, User: "other", Shown: "b", ShownAt: now, OpenedAt: now}
	t.Must(t.Store.SaveHome(t.Ctx, home, now))
	t.Must(t.Store.SaveHome(t.Ctx, other, now))
	gather := func() {
		t.Helper()
		t.Must(t.Store.CollectChatNotices(t.Ctx, "slack", nil, t.Clock.Now(), t.Clock.Now().Add(-time.Hour)))
	}
	stale := func(want ...string) {
		t.Helper()
		list, err := t.Store.StaleHomes(t.Ctx, "slack", "T1", now.Add(-time.Hour), 10)
		t.Must(err)
		var got []string
		for _, h := range list {
			got = append(got, h.Person+h.Shown)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("stale are %q, not %q", got, want)
		}
	}
	gather()
	stale()
	t.Clock.Move(time.Second)
	t.Create("web", 1)
	gather()
	stale("U1a")
	// What has happened since it was looked at counts.
	looked := t.Clock.Now()
	t.Clock.Move(time.Second)
	t.Create("db", 1)
	gather()
	home.Shown, home.ShownAt = "c", t.Clock.Now()
	t.Must(t.Store.SaveHome(t.Ctx, home, looked))
	stale("U1c")
	t.Must(t.Store.SaveHome(t.Ctx, home, t.Clock.Now()))
	stale()
	// A request that moves may be anybody's to decide.
	t.Clock.Move(time.Second)
	t.Must(t.Store.Notify(t.Ctx, app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: app.NoticeApproval, Title: "a request waits"}))
	gather()
	stale("U2b", "U1c")
	if list, err := t.Store.StaleHomes(t.Ctx, "slack", "", t.Clock.Now(), 10); err != nil || len(list) != 0 {
		t.Errorf("homes that no one opens any more are %v, %v", list, err)
	}
	t.Must(t.Store.DropHome(t.Ctx, "slack", "T1", "U2"))
	t.Must(t.Store.DropHome(t.Ctx, "slack", "T1", "U2"))
	stale("U1c")

	// So does who someone is.
	t.Must(t.Store.SaveHome(t.Ctx, home, t.Clock.Now()))
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: "ada", Role: app.RoleUser, PasswordHash: "x", CreatedAt: t.Clock.Now()}))
	t.Clock.Move(time.Second)
	t.linked("ada", "T1/U1")
	stale("U1c")
	t.Must(t.Store.SaveHome(t.Ctx, home, t.Clock.Now()))
	t.Clock.Move(time.Second)
	t.Must(t.Store.RemoveIdentity(t.Ctx, app.Actor{Tenant: kit.Tenant, User: "ada"}, "ada", "slack", "T1/U1", t.Clock.Now()))
	stale("U1c")
}

package apptest

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/identity"
)

// linked ties somebody of a chat to an account.
func (t *storeTest) linked(user, external string) {
	t.Helper()
	hash := identity.HashToken(strings.ToLower(user + external))
	now := t.clock.Now()
	t.must(t.s.SaveLink(t.ctx, hash, identity.IdentityLink{Kind: "slack", External: external, Label: user, At: now, ExpiresAt: now.Add(identity.LinkLife)}))
	_, err := t.s.UseLink(t.ctx, app.Actor{Tenant: tenant, User: user}, hash, now)
	t.must(err)
}

// chatTells: each notice is told once to each person of the chat whom it names, and homes of those it is about become stale.
func (t *storeTest) chatTells() {
	for _, u := range []string{"ada", "eve", "zoe"} {
		t.must(t.s.CreateUser(t.ctx, app.User{Tenant: tenant, Name: u, Role: app.RoleUser, PasswordHash: "x", CreatedAt: t.clock.Now()}))
	}
	t.clock.Move(time.Second)
	t.linked("ada", "T1/U1")
	t.linked("ada", "T2/U9")
	t.linked("eve", "T1/U2")
	notify := func(kind app.NoticeKind, title string, users ...string) {
		t.must(t.s.Notify(t.ctx, app.Notice{At: t.clock.Now(), Tenant: tenant, Kind: kind, Title: title, Users: users, Groups: []string{"ops"}}))
	}
	gather := func(more ...app.NoticeKind) {
		t.Helper()
		t.must(t.s.GatherChat(t.ctx, "slack", append(more, app.NoticeLease, app.NoticeApproval), t.clock.Now(), t.clock.Now().Add(-time.Hour)))
	}
	due := func(team string, want ...string) []chat.ChatTell {
		t.Helper()
		list, err := t.s.ChatTells(t.ctx, "slack", team, t.clock.Now(), 10)
		t.must(err)
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
	notify(app.NoticeHook, "not of a kind that is told", "ada")
	notify(app.NoticeApproval, "two", "eve")
	notify(app.NoticeLease, "of nobody")
	gather()
	gather()
	due("T1", "T1/U1 ada one", "T1/U2 eve two")
	due("", "T1/U1 ada one", "T2/U9 ada one", "T1/U2 eve two")
	if list, err := t.s.ChatTells(t.ctx, "other", "", t.clock.Now(), 10); err != nil || len(list) != 0 {
		t.Errorf("another chat has %v, %v", list, err)
	}

	// One of two servers sends it; where that one dies, another looks after it later.
	c := due("T2", "T2/U9 ada one")[0]
	begin := func(c chat.ChatTell) bool {
		t.Helper()
		mine, err := t.s.BeginTell(t.ctx, c, t.clock.Now(), t.clock.Now().Add(time.Minute))
		t.must(err)
		return mine
	}
	began := t.clock.Now()
	if !begin(c) || begin(c) {
		t.Fatal("both send it, or neither")
	}
	due("T2")
	t.clock.Move(2 * time.Minute)
	again := due("T2", "T2/U9 ada one")[0]
	if again.State != chat.ChatTellSending || again.Tries != 1 || !again.BeganAt.Equal(began.Truncate(time.Microsecond)) {
		t.Errorf("what was begun is %+v", again)
	}
	if begin(c) || !begin(again) {
		t.Fatal("the one who was too slow sends it, or the other does not")
	}
	t.must(t.s.EndTell(t.ctx, again.ID, chat.ChatTellWaiting, t.clock.Now().Add(time.Minute)))
	due("T2")
	t.clock.Move(time.Hour)
	t.must(t.s.EndTell(t.ctx, again.ID, chat.ChatTellTold, t.clock.Now()))
	t.must(t.s.EndTell(t.ctx, again.ID, chat.ChatTellWaiting, t.clock.Now())) // too late
	due("T2")
	gather()
	due("T2")

	// What is old is forgotten, and what comes then is told.
	t.clock.Move(2 * time.Hour)
	notify(app.NoticeLease, "three", "eve")
	gather()
	due("", "T1/U2 eve three")

	// Who is asked by a group is told too, and once.
	t.clock.Move(2 * time.Hour)
	a := app.Actor{Tenant: tenant, User: "root", Role: app.RoleAdmin}
	t.must(second(t.s.SaveGroup(t.ctx, a, identity.GroupChange{Name: "ops"}, t.clock.Now())))
	groups := []string{"ops"}
	t.must(second(t.s.ChangeUser(t.ctx, a, "ada", identity.UserChange{Groups: &groups}, t.clock.Now())))
	notify(app.NoticeLease, "not for groups", "zoe")
	t.must(t.s.Notify(t.ctx, app.Notice{At: t.clock.Now(), Tenant: tenant, Kind: app.NoticeQuestion, Title: "four", Users: []string{"ada", "eve"}, Groups: groups}))
	gather(app.NoticeQuestion)
	due("", "T1/U1 ada four", "T2/U9 ada four", "T1/U2 eve four")
}

func (t *storeTest) chatHomes() {
	now := t.clock.Now()
	owner := NewCluster(tenant, "any", 1, now, Chain(1)).Cluster.Owner
	home := chat.ChatHome{Kind: "slack", Team: "T1", Person: "U1", Tenant: tenant, User: owner, Shown: "a", ShownAt: now, OpenedAt: now}
	other := chat.ChatHome{Kind: "slack", Team: "T1", Person: "U2", Tenant: tenant, User: "somebody", Shown: "b", ShownAt: now, OpenedAt: now}
	t.must(t.s.SaveHome(t.ctx, home, now))
	t.must(t.s.SaveHome(t.ctx, other, now))
	gather := func() {
		t.Helper()
		t.must(t.s.GatherChat(t.ctx, "slack", nil, t.clock.Now(), t.clock.Now().Add(-time.Hour)))
	}
	stale := func(want ...string) {
		t.Helper()
		list, err := t.s.StaleHomes(t.ctx, "slack", "T1", now.Add(-time.Hour), 10)
		t.must(err)
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
	t.clock.Move(time.Second)
	t.create("web", 1)
	gather()
	stale("U1a")
	// What has happened since it was looked at counts.
	looked := t.clock.Now()
	t.clock.Move(time.Second)
	t.create("db", 1)
	gather()
	home.Shown, home.ShownAt = "c", t.clock.Now()
	t.must(t.s.SaveHome(t.ctx, home, looked))
	stale("U1c")
	t.must(t.s.SaveHome(t.ctx, home, t.clock.Now()))
	stale()
	// A request that moves may be anybody's to decide.
	t.clock.Move(time.Second)
	t.must(t.s.Notify(t.ctx, app.Notice{At: t.clock.Now(), Tenant: tenant, Kind: app.NoticeApproval, Title: "a request waits"}))
	gather()
	stale("U2b", "U1c")
	if list, err := t.s.StaleHomes(t.ctx, "slack", "", t.clock.Now(), 10); err != nil || len(list) != 0 {
		t.Errorf("homes that nobody opens any more are %v, %v", list, err)
	}
	t.must(t.s.DropHome(t.ctx, "slack", "T1", "U2"))
	t.must(t.s.DropHome(t.ctx, "slack", "T1", "U2"))
	stale("U1c")

	// So does who somebody is.
	t.must(t.s.SaveHome(t.ctx, home, t.clock.Now()))
	t.must(t.s.CreateUser(t.ctx, app.User{Tenant: tenant, Name: "ada", Role: app.RoleUser, PasswordHash: "x", CreatedAt: t.clock.Now()}))
	t.clock.Move(time.Second)
	t.linked("ada", "T1/U1")
	stale("U1c")
	t.must(t.s.SaveHome(t.ctx, home, t.clock.Now()))
	t.clock.Move(time.Second)
	t.must(t.s.RemoveIdentity(t.ctx, app.Actor{Tenant: tenant, User: "ada"}, "ada", "slack", "T1/U1", t.clock.Now()))
	stale("U1c")
}

package notification

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/identity"
	"muster/app/notification"
	"muster/app/store/storetest/kit"
)

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"each person gets a notification once, read or unread", (*storeTest).inboxes},
	{"people choose what reaches them", (*storeTest).preferences},
	{"inboxes are bounded", (*storeTest).memory},
	{"an email is sent by one server", (*storeTest).emails},
	{"emails are queued while a server sends them", (*storeTest).emailServers},
})

func (t *storeTest) people(roles map[string]app.Role) {
	t.Helper()
	for name, role := range roles {
		u := identity.User{Tenant: kit.Tenant, Name: name, Role: role, Email: name + "@example.com", PasswordHash: "x"}
		u.CreatedAt = t.Clock.Now()
		t.Must(t.Store.CreateUser(t.Ctx, u))
	}
}

func (t *storeTest) tell(kind app.NoticeKind, title string, users, groups []string) {
	t.Helper()
	t.Must(t.Store.Notify(t.Ctx, app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: kind, Title: title, Users: users, Groups: groups}))
}

func (t *storeTest) want(user string, unread bool, want ...string) []notification.Item {
	t.Helper()
	list, err := t.Store.Inbox(t.Ctx, notification.Query{Tenant: kit.Tenant, User: user, Unread: unread, Limit: 500})
	t.Must(err)
	var got []string
	for _, i := range list {
		got = append(got, i.Title)
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Fatalf("the inbox of %s has %q, not %q", user, got, want)
	}
	return list
}

func (t *storeTest) inboxes() {
	t.people(map[string]app.Role{"ada": app.RoleUser, "eve": app.RoleUser, "kim": app.RoleApprover, "bot": app.RoleRobot})
	a := kit.Boss
	_, err := t.Store.SaveGroup(t.Ctx, a, identity.GroupChange{Name: "ops", Add: []string{"ada", "eve"}}, t.Clock.Now())
	t.Must(err)
	t.tell(app.NoticeReady, "one", []string{"ada", "ada", "bot", "stranger"}, []string{"ops"})
	t.tell(app.NoticeReady, "two", []string{"ada"}, nil)
	t.tell(app.NoticeApproval, "decide", nil, nil) // by role
	t.tell(app.NoticeHook, "for admins' hooks", nil, nil)
	all := t.want("ada", false, "two", "one")
	t.want("eve", true, "one")
	t.want("kim", true, "decide")
	t.want("bot", false)
	n, err := t.Store.MarkInbox(t.Ctx, kit.Tenant, "ada", notification.Mark{IDs: []int64{all[1].ID, 99}}, t.Clock.Now())
	if t.Must(err); n != 1 {
		t.Fatalf("%d are marked", n)
	}
	t.want("ada", true, "two")
	t.tell(app.NoticeReady, "three", []string{"ada"}, nil)
	n, err = t.Store.MarkInbox(t.Ctx, kit.Tenant, "ada", notification.Mark{UpTo: all[0].ID}, t.Clock.Now())
	if t.Must(err); n != 1 {
		t.Fatalf("%d are marked", n)
	}
	t.want("ada", true, "three")
	if n, err = t.Store.InboxUnread(t.Ctx, kit.Tenant, "ada"); err != nil || n != 1 {
		t.Fatalf("%d are unread, %v", n, err)
	}
	i, err := t.Store.InboxItem(t.Ctx, kit.Tenant, "ada", all[0].ID)
	if t.Must(err); i.Title != "two" || i.ReadAt.IsZero() {
		t.Fatalf("it is %+v", i)
	}
	_, err = t.Store.InboxItem(t.Ctx, kit.Tenant, "kim", all[0].ID)
	t.Code(err, app.ENotFound)
	t.Must(t.Store.DeleteUser(t.Ctx, a, "ada", "", t.Clock.Now()))
	t.people(map[string]app.Role{"ada": app.RoleUser})
	t.want("ada", false)
}

func (t *storeTest) preferences() {
	t.people(map[string]app.Role{"ada": app.RoleUser})
	t.Must(t.Store.KeepEmail(t.Ctx, "one", t.Clock.Now()))
	p := notification.Default(app.NoticeReady)
	p.Portal, p.Email = false, false
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser}
	t.Must(t.Store.SaveNotificationPreferences(t.Ctx, who, []notification.Preference{p, notification.Default(app.NoticeFailed)}, t.Clock.Now()))
	t.tell(app.NoticeReady, "ready", []string{"ada"}, nil)
	t.tell(app.NoticeFailed, "failed", []string{"ada"}, nil)
	t.want("ada", false, "failed")
	t.wantEmails("a", "ada@example.com failed")
	hash := identity.HashToken("link")
	now := t.Clock.Now()
	t.Must(t.Store.SaveLink(t.Ctx, hash, identity.Link{Kind: "slack", External: "T1/U1", Label: "ada", At: now, ExpiresAt: now.Add(identity.LinkLife)}))
	_, err := t.Store.UseLink(t.Ctx, who, hash, now)
	t.Must(err)
	p.Slack = false
	t.Must(t.Store.SaveNotificationPreferences(t.Ctx, who, []notification.Preference{p}, now))
	t.tell(app.NoticeReady, "ready again", []string{"ada"}, nil)
	t.tell(app.NoticeFailed, "failed again", []string{"ada"}, nil)
	t.Must(t.Store.CollectChatNotices(t.Ctx, "slack", chat.NoticeKinds, now, now.Add(-time.Hour)))
	dms, err := t.Store.ChatDMs(t.Ctx, "slack", "T1", now, 10)
	if t.Must(err); len(dms) != 2 || dms[0].Notice.Title != "failed" || dms[1].Notice.Title != "failed again" {
		t.Fatalf("Slack gets %+v", dms)
	}
	is, err := t.Store.NotificationPreferences(t.Ctx, kit.Tenant, "ada", t.Clock.Now())
	t.Must(err)
	want := "{Kinds:[{Kind:ready Portal:false Slack:false Email:false}] Email:ada@example.com Slack:true EmailEnabled:true}"
	if got := fmt.Sprintf("%+v", is); got != want {
		t.Fatalf("the preferences are %s, not %s", got, want)
	}
}

func (t *storeTest) memory() {
	t.people(map[string]app.Role{"ada": app.RoleUser})
	t.tell(app.NoticeReady, "old", []string{"ada"}, nil)
	t.Clock.Move(notification.Memory + time.Second)
	var want []string
	for i := range notification.MostKept + 2 {
		title := fmt.Sprint("n", i)
		t.tell(app.NoticeReady, title, []string{"ada"}, nil)
		if i >= 2 {
			want = append([]string{title}, want...)
		}
	}
	t.Must(t.Store.ForgetNotifications(t.Ctx, t.Clock.Now()))
	t.want("ada", false, want...)
}

func (t *storeTest) wantEmails(holder string, want ...string) []notification.Email {
	t.Helper()
	due, _, err := t.Store.ClaimEmails(t.Ctx, notification.EmailClaim{Holder: holder, Now: t.Clock.Now(), For: time.Minute, Most: 10})
	t.Must(err)
	var got []string
	for _, e := range due {
		got = append(got, e.To+" "+e.What.Title)
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Fatalf("%s sends %q, not %q", holder, got, want)
	}
	return due
}

func (t *storeTest) emails() {
	t.people(map[string]app.Role{"ada": app.RoleUser, "eve": app.RoleUser})
	t.tell(app.NoticeReady, "before email was set up", []string{"ada"}, nil)
	t.Must(t.Store.KeepEmail(t.Ctx, "one", t.Clock.Now()))
	t.Must(t.Store.StopEmail(t.Ctx, "two")) // which sends none, and leaves it to the other
	t.tell(app.NoticeReady, "one", []string{"ada", "eve"}, nil)
	t.tell(app.NoticeHealth, "not emailed unless chosen", []string{"ada"}, nil)
	due := t.wantEmails("a", "ada@example.com one", "eve@example.com one")
	t.wantEmails("b")
	end := func(e notification.Email, state notification.EmailState, again time.Time) error {
		return t.Store.EndEmail(t.Ctx, notification.EmailEnd{Email: e, State: state, Next: again})
	}
	t.Must(end(due[0], notification.EmailSent, time.Time{}))
	_, next, err := t.Store.ClaimEmails(t.Ctx, notification.EmailClaim{Holder: "b", Now: t.Clock.Now(), For: time.Minute, Most: 10})
	if t.Must(err); !next.Equal(t.Clock.Now().Add(time.Minute)) {
		t.Fatalf("the next is due at %v", next)
	}
	t.Clock.Move(2 * time.Minute) // the server has died
	again := t.wantEmails("b", "eve@example.com one")
	if again[0].Attempts != 2 {
		t.Fatalf("it is attempt %d", again[0].Attempts)
	}
	t.Code(end(due[1], notification.EmailSent, time.Time{}), app.EStale)
	t.Must(end(again[0], notification.EmailWaiting, t.Clock.Now().Add(time.Hour)))
	t.wantEmails("b")
	t.Must(t.Store.StopEmail(t.Ctx, "one"))
	t.tell(app.NoticeReady, "after email was turned off", []string{"ada"}, nil)
	t.Clock.Move(time.Hour)
	t.wantEmails("a", "eve@example.com one")
}

func (t *storeTest) emailServers() {
	t.people(map[string]app.Role{"ada": app.RoleUser})
	queued := func(about string, want bool) {
		t.Helper()
		p, err := t.Store.NotificationPreferences(t.Ctx, kit.Tenant, "ada", t.Clock.Now())
		if t.Must(err); p.EmailEnabled != want {
			t.Errorf("%s: email is said to be enabled: %v", about, p.EmailEnabled)
		}
		t.tell(app.NoticeReady, about, []string{"ada"}, nil)
		due, _, err := t.Store.ClaimEmails(t.Ctx, notification.EmailClaim{Holder: about, Now: t.Clock.Now(), For: time.Minute, Most: 10})
		if t.Must(err); (len(due) == 1) != want {
			t.Errorf("%s: %d emails are queued", about, len(due))
		}
		for _, e := range due {
			t.Must(t.Store.EndEmail(t.Ctx, notification.EmailEnd{Email: e, State: notification.EmailSent}))
		}
	}
	queued("no server", false)
	t.Must(t.Store.KeepEmail(t.Ctx, "a", t.Clock.Now()))
	t.Must(t.Store.KeepEmail(t.Ctx, "b", t.Clock.Now()))
	t.Must(t.Store.StopEmail(t.Ctx, "c"))
	queued("two of three", true)
	t.Must(t.Store.StopEmail(t.Ctx, "a"))
	queued("one of three", true)
	t.Clock.Move(notification.EmailTime - time.Minute)
	queued("the server is away for less than a day", true)
	t.Must(t.Store.KeepEmail(t.Ctx, "b", t.Clock.Now()))
	t.Clock.Move(2 * time.Minute)
	queued("it was there again", true)
	t.Clock.Move(notification.EmailTime)
	queued("it's away for more than a day", false)
	t.Must(t.Store.KeepEmail(t.Ctx, "b", t.Clock.Now()))
	t.Must(t.Store.StopEmail(t.Ctx, "b"))
	queued("it started again without a mail server", false)
}

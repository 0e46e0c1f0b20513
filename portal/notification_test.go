package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/notification"
	"muster/portal/site"
)

// fakeInbox is a fake Muster with notifications and preferences in memory.
type fakeInbox struct {
	site.Notifications
	items   []notification.Item
	changes []notification.Change
	now     time.Time
}

func (f *fakeInbox) UnreadNotifications(context.Context, app.Actor) (n int, err error) {
	for _, i := range f.items {
		if i.ReadAt.IsZero() {
			n++
		}
	}
	return n, nil
}

func (f *fakeInbox) MarkNotifications(_ context.Context, _ app.Actor, m notification.Mark) (n int, err error) {
	for i := range f.items {
		if x := &f.items[i]; x.ReadAt.IsZero() && (m.UpTo == 0 || x.ID <= m.UpTo) {
			x.ReadAt = f.now
			n++
		}
	}
	return n, nil
}

func (f *fakeInbox) OpenNotification(_ context.Context, _ app.Actor, id int64) (notification.Item, error) {
	for i := range f.items {
		if f.items[i].ID == id {
			f.items[i].ReadAt = f.now
			return f.items[i], nil
		}
	}
	return notification.Item{}, app.Errorf(app.ENotFound, "This notification isn't stored anymore, or isn't yours.")
}

func (f *fakeInbox) NotificationPreferences(context.Context, app.Actor) (notification.Preferences, error) {
	p := notification.Preferences{Email: "ada@example.com", EmailEnabled: true}
	for _, k := range notification.Kinds {
		p.Kinds = append(p.Kinds, notification.Default(k.Kind))
	}
	return p, nil
}

func (f *fakeInbox) SaveNotificationPreferences(ctx context.Context, a app.Actor, c []notification.Change) (notification.Preferences, error) {
	f.changes = c
	return f.NotificationPreferences(ctx, a)
}

// listing adds the method that has the name of the interface that its other methods are of.
type listing struct{ *fakeInbox }

func (l listing) Notifications(_ context.Context, _ app.Actor, q notification.Query) (list []notification.Item, err error) {
	for _, i := range l.items {
		if (q.Before == 0 || i.ID < q.Before) && (!q.Unread || i.ReadAt.IsZero()) && len(list) < q.Limit {
			list = append(list, i)
		}
	}
	return list, nil
}

func inboxAt(t *testing.T) (*testSite, *fakeInbox) {
	t.Helper()
	f := &fakeInbox{}
	s := visit(t, func(c *Config) {
		f.now = fakeOf(c).now()
		c.UseCases = useCases(fakeOf(c), listing{f})
	})
	s.signIn("ada")
	for i := range 32 {
		n := app.Notice{ID: int64(40 - i), At: f.now.Add(-time.Duration(i) * time.Hour), Kind: app.NoticeReady, Title: fmt.Sprintf("web-%d is <ready>.", i), About: app.ClusterSubject("web")}
		f.items = append(f.items, notification.Item{Notice: n, ReadAt: f.now})
	}
	f.items[0].ReadAt, f.items[1].ReadAt = time.Time{}, time.Time{}
	f.items[1].Kind, f.items[1].Act, f.items[1].ActionName = app.NoticeApproval, app.RequestSubject(7), "Decide"
	return s, f
}

// The bell counts unread notifications; opening one marks it as read and leads to what it's about.
func TestNotificationsAreRead(t *testing.T) {
	s, f := inboxAt(t)
	a := s.get("/notifications")
	a.reads(http.StatusOK, "Cluster ready just now", "web-0 is <ready>. (unread)", "web-2 is <ready>.", "Decide", "Mark all as read", "Older notifications")
	if !strings.Contains(a.body, `data-count-of="notifications">2</span>`) {
		t.Errorf("the bell doesn't count 2: %s", a.body)
	}
	s.get("/notifications?show=unread").reads(http.StatusOK, "web-1 is <ready>. (unread)")
	if strings.Contains(s.get("/notifications?show=unread").body, "web-2") {
		t.Error("a read one is among the unread")
	}
	s.get("/notifications?before=11").reads(http.StatusOK, "web-30 is", "Newest notifications")
	if at := s.get("/notifications/39?act=1").header.Get("Location"); at != "/requests/7" {
		t.Errorf("it leads to %q", at)
	}
	if at := s.get("/notifications/40").header.Get("Location"); at != "/clusters/web" || f.items[0].ReadAt.IsZero() {
		t.Errorf("it leads to %q", at)
	}
	s.get("/notifications").reads(http.StatusOK, "History")
	s.get("/notifications/99").reads(http.StatusNotFound, "isn't stored anymore")
	s.get("/notifications/x").reads(http.StatusNotFound)
	f.items[0].ReadAt, f.items[5].ReadAt = time.Time{}, time.Time{}
	if at := s.post("/notifications/read", url.Values{"up_to": {"39"}}).header.Get("Location"); at != "/notifications" || !f.items[0].ReadAt.IsZero() || f.items[5].ReadAt.IsZero() {
		t.Errorf("it leads to %q, and read are %v", at, f.items[:6])
	}
}

// The table of preferences is saved as a whole.
func TestNotificationPreferencesAreSaved(t *testing.T) {
	s, f := inboxAt(t)
	s.get("/account/notifications").reads(http.StatusOK, "Cluster ready A cluster of yours is ready to use.", "Email: sent to ada@example.com.")
	if at := s.post("/account/notifications", url.Values{"slack-ready": {"true"}, "email-failed": {"true"}}).header.Get("Location"); at != "/account/notifications?saved=1" {
		t.Fatalf("it leads to %q", at)
	}
	ready, failed := f.changes[0], f.changes[1]
	if *ready.Portal || !*ready.Slack || *ready.Email || *failed.Slack || !*failed.Email || len(f.changes) != len(notification.Kinds) {
		t.Errorf("the changes are %+v", f.changes)
	}
	s.get("/account/notifications?saved=1").reads(http.StatusOK, "Preferences saved.")
}

package webhook

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/storetest/kit"
	"muster/app/webhook"
)

func (t *storeTest) tell(kind app.NoticeKind, titles ...string) {
	t.Helper()
	for _, title := range titles {
		t.Must(t.Store.Notify(t.Ctx, app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: kind, Title: title, Users: []string{"ada"}, Groups: []string{"ops"}}))
	}
	_, err := t.Store.QueueDeliveries(t.Ctx, t.Clock.Now())
	t.Must(err)
}

func titles(due []webhook.DueDelivery) string {
	var all []string
	for _, d := range due {
		all = append(all, d.Hook+":"+d.What.Title)
	}
	return strings.Join(all, " ")
}

func (t *storeTest) wantDue(holder, want string) []webhook.DueDelivery {
	t.Helper()
	due := t.Due(holder)
	if got := titles(due); got != want {
		t.Fatalf("due is %q, want %q", got, want)
	}
	return due
}

// hooks: made, changed and deleted; the secret is kept, turned over, and never shown.
func (t *storeTest) hooks() {
	kinds := []app.NoticeKind{app.NoticeLease}
	h := t.Hook("chat", func(c *webhook.EndpointChange) { c.Kinds = &kinds })
	if h.State != webhook.HookActive || h.URL != "https://hooks.example.com/…" || h.CreatedBy != "root" || fmt.Sprint(h.Kinds) != "[lease]" || h.Format != webhook.HookMuster {
		t.Fatalf("the hook is %+v", h)
	}
	_, _, err := t.Store.SaveHook(t.Ctx, kit.HookAdmin, webhook.EndpointChange{Name: "none"}, t.Clock.Now())
	t.Code(err, app.EInvalid)
	_, _, err = t.Store.SaveHook(t.Ctx, kit.HookAdmin, webhook.EndpointChange{Name: "chat", Format: webhook.HookMail}, t.Clock.Now())
	t.Code(err, app.EInvalid) // no one to send it to
	_, err = t.Store.Hook(t.Ctx, "t2", "chat")
	t.Code(err, app.ENotFound)
	t.tell(app.NoticeLease, "one")
	t.tell(app.NoticeAlarm, "not for it")
	d := t.wantDue("a", "chat:one")[0]
	if d.URL != "https://hooks.example.com/a-long-secret-in-the-path" || string(d.Secrets[0]) != strings.Repeat("n", 32) || len(d.Secrets) != 1 {
		t.Fatalf("claimed with %q and %d secrets", d.URL, len(d.Secrets))
	}
	t.Must(t.Ended("a", d, "", 0))
	t.Hook("chat", func(c *webhook.EndpointChange) { c.URL, c.Secret = "", []byte(strings.Repeat("x", 24)) })
	t.tell(app.NoticeLease, "two")
	d = t.wantDue("a", "chat:two")[0]
	if len(d.Secrets) != 2 || d.Secrets[0][0] != 'x' || d.Secrets[1][0] != 'n' {
		t.Fatalf("after the change it is signed with %q", d.Secrets)
	}
	t.Must(t.Ended("a", d, "", 0))
	t.Clock.Move(25 * time.Hour)
	t.tell(app.NoticeLease, "three")
	if d = t.wantDue("a", "chat:three")[0]; len(d.Secrets) != 1 || d.Secrets[0][0] != 'x' {
		t.Fatalf("a day later it is signed with %q", d.Secrets)
	}
	list, err := t.Store.HookDeliveries(t.Ctx, kit.Tenant, "chat", 0, 2)
	t.Must(err)
	if len(list) != 2 || list[0].Title != "three" || list[0].State != webhook.DeliveryWaiting || list[1].State != webhook.DeliveryMade || list[1].Status != 200 {
		t.Fatalf("the deliveries are %+v", list)
	}
	list, err = t.Store.HookDeliveries(t.Ctx, kit.Tenant, "chat", list[1].ID, 2)
	t.Must(err)
	if len(list) != 1 || list[0].Title != "one" {
		t.Fatalf("before them are %+v", list)
	}
	_, err = t.Store.HookDelivery(t.Ctx, "t2", "chat", d.ID)
	t.Code(err, app.ENotFound)
	for i := range webhook.MaxHooks - 1 {
		t.Hook(fmt.Sprintf("h%02d", i))
	}
	_, _, err = t.Store.SaveHook(t.Ctx, kit.HookAdmin, webhook.EndpointChange{Name: "more", URL: "https://x"}, t.Clock.Now())
	t.Code(err, app.ETooLarge)
	t.Must(t.Store.DeleteHook(t.Ctx, kit.HookAdmin, "chat", t.Clock.Now()))
	t.Code(t.Store.DeleteHook(t.Ctx, kit.HookAdmin, "chat", t.Clock.Now()), app.ENotFound)
	t.Code(t.Ended("a", d, "", 0), app.EStale)
}

// hookOrder: each hook gets its notices one after the other, and what one waits for holds up no other.
func (t *storeTest) hookOrder() {
	t.Hook("a")
	t.Hook("b")
	t.tell(app.NoticeAlarm, "1", "2")
	due := t.wantDue("x", "a:1 b:1")
	t.wantDue("y", "")
	t.Must(t.Ended("x", due[0], "", 0))
	due = append(t.wantDue("x", "a:2"), due[1])
	t.Must(t.Ended("x", due[1], app.ETransient, time.Minute))
	t.Must(t.Ended("x", due[0], "", 0))
	t.wantDue("x", "") // 2 waits behind 1
	_, next, err := t.Store.ClaimDeliveries(t.Ctx, webhook.DeliveryClaim{Holder: "x", Now: t.Clock.Now(), For: time.Minute, Most: 9, PerTenant: 9})
	t.Must(err)
	if want := t.Clock.Now().Add(time.Minute); !next.Equal(want) {
		t.Fatalf("the next is due at %s, want %s", next, want)
	}
	t.Clock.Move(time.Minute)
	again := t.wantDue("x", "b:1")[0]
	if again.ID != due[1].ID || again.MessageID != due[1].MessageID || again.Attempts != 2 {
		t.Fatalf("tried again as %s, attempt %d", again.MessageID, again.Attempts)
	}
	t.Must(t.Ended("x", again, "", 0))
	last := t.wantDue("x", "b:2")[0]
	// The server dies before it can say what happened to it: another one takes it when the claim has run out.
	t.Clock.Move(29 * time.Second)
	t.wantDue("y", "")
	t.Clock.Move(2 * time.Second)
	twice := t.wantDue("y", "b:2")[0]
	if twice.MessageID != last.MessageID {
		t.Fatal("the same notice has two names")
	}
	t.Code(t.Ended("x", last, "", 0), app.EStale)
	t.Must(t.Ended("y", twice, "", 0))
	full, err := t.Store.HookDelivery(t.Ctx, kit.Tenant, "b", again.ID)
	t.Must(err)
	if len(full.Log) != 2 || full.Log[1].Code != app.ETransient || full.Log[0].Response != "thanks" || full.Request != "{}" {
		t.Fatalf("the log is %+v", full)
	}
	// A tenant has only so many at once.
	t.tell(app.NoticeAlarm, "3")
	some, _, err := t.Store.ClaimDeliveries(t.Ctx, webhook.DeliveryClaim{Holder: "x", Now: t.Clock.Now(), For: time.Minute, Most: 9, PerTenant: 3,
		Busy: map[string]int{kit.Tenant: 2}})
	t.Must(err)
	if len(some) != 1 {
		t.Fatalf("%d were claimed, there was room for one", len(some))
	}
}

// hookStops: after too many failures in a row, or when the receiver says so; admins are notified, and what waited is kept as failed.
func (t *storeTest) hookStops() {
	t.Hook("a")
	for i := range webhook.MostFailures {
		if h, err := t.Store.Hook(t.Ctx, kit.Tenant, "a"); err != nil || h.State != webhook.HookActive {
			t.Fatalf("after %d failures the hook is %s (%v)", i, h.State, err)
		}
		t.tell(app.NoticeAlarm, "n")
		t.Must(t.Ended("x", t.wantDue("x", "a:n")[0], app.EInvalid, 0))
	}
	h, err := t.Store.Hook(t.Ctx, kit.Tenant, "a")
	t.Must(err)
	if h.State != webhook.HookStopped || !strings.Contains(h.Problem, "100 deliveries") || h.Failures != webhook.MostFailures || h.Last == nil || h.Last.Status != 500 {
		t.Fatalf("after 100 failures the hook is %+v", h)
	}
	notified, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, nil, 0, 1)
	t.Must(err)
	if len(notified) != 1 || notified[0].Kind != app.NoticeHook {
		t.Fatalf("the admins are notified %+v", notified)
	}
	t.tell(app.NoticeAlarm, "missed")
	t.wantDue("x", "")
	_, err = t.Store.Redeliver(t.Ctx, kit.HookAdmin, "a", 1, t.Clock.Now())
	t.Code(err, app.EConflict)
	// A test goes through all the same, and changes nothing about that.
	test, err := t.Store.TestHook(t.Ctx, kit.HookAdmin, "a", t.Clock.Now())
	t.Must(err)
	d := t.wantDue("x", "a:Test notification")[0]
	if d.ID != test.ID || test.Kind != app.NoticeTest {
		t.Fatalf("the test is %+v", test)
	}
	t.Must(t.Ended("x", d, "", 0))
	if h, err = t.Store.Hook(t.Ctx, kit.Tenant, "a"); err != nil || h.State != webhook.HookStopped {
		t.Fatalf("after a test the hook is %s (%v)", h.State, err)
	}
	on, off := true, false
	if h = t.Hook("a", func(c *webhook.EndpointChange) { c.URL, c.Enabled = "", &on }); h.State != webhook.HookActive || h.Failures != 0 {
		t.Fatalf("switched on again it is %+v", h)
	}
	t.wantDue("x", "") // what was missed is not sent late
	t.tell(app.NoticeAlarm, "again", "and again")
	d = t.wantDue("x", "a:again")[0]
	t.Must(t.Store.EndDelivery(t.Ctx, webhook.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: "x", Attempt: d.Attempts, At: t.Clock.Now(), Status: 410,
		Err: app.Errorf(app.ENotFound, "It answered 410 Gone."), Stop: "It is gone."}))
	if h, err = t.Store.Hook(t.Ctx, kit.Tenant, "a"); err != nil || h.State != webhook.HookStopped || h.Problem != "It is gone." || h.Waiting != 0 {
		t.Fatalf("after 410 the hook is %+v (%v)", h, err)
	}
	t.Hook("a", func(c *webhook.EndpointChange) { c.URL, c.Enabled = "", &on })
	list, err := t.Store.HookDeliveries(t.Ctx, kit.Tenant, "a", 0, 1)
	t.Must(err)
	if list[0].Title != "and again" || list[0].State != webhook.DeliveryFailed || list[0].Code != app.ECancelled {
		t.Fatalf("what waited is %+v", list[0])
	}
	if _, err = t.Store.Redeliver(t.Ctx, kit.HookAdmin, "a", list[0].ID, t.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	_, err = t.Store.Redeliver(t.Ctx, kit.HookAdmin, "a", list[0].ID, t.Clock.Now())
	t.Code(err, app.EConflict)
	d = t.wantDue("x", "a:and again")[0]
	if h = t.Hook("a", func(c *webhook.EndpointChange) { c.URL, c.Enabled = "", &off }); h.State != webhook.HookOff {
		t.Fatalf("switched off it is %s", h.State)
	}
	t.Must(t.Ended("x", d, "", 0)) // it was in progress already
}

// hookMemory: old deliveries and notices are forgotten, what waits is not.
func (t *storeTest) hookMemory() {
	t.Hook("a")
	t.tell(app.NoticeAlarm, "old")
	t.Must(t.Ended("x", t.wantDue("x", "a:old")[0], "", 0))
	t.Clock.Move(webhook.DeliveryMemory + time.Hour)
	t.tell(app.NoticeAlarm, "new")
	t.Must(t.Store.ForgetDeliveries(t.Ctx, t.Clock.Now()))
	list, err := t.Store.HookDeliveries(t.Ctx, kit.Tenant, "a", 0, 10)
	t.Must(err)
	if len(list) != 1 || list[0].Title != "new" {
		t.Fatalf("kept are %+v", list)
	}
	if notified, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, nil, 0, 10); err != nil || len(notified) != 2 {
		t.Fatalf("%d notices are kept (%v), want 2", len(notified), err)
	}
	t.Clock.Move(webhook.NoticeMemory - webhook.DeliveryMemory)
	t.Must(t.Store.ForgetDeliveries(t.Ctx, t.Clock.Now()))
	if notified, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, nil, 0, 10); err != nil || len(notified) != 1 || notified[0].Title != "new" {
		t.Fatalf("kept are %+v (%v)", notified, err)
	}
}

// noticesFor: everyone reads what is meant for it, and nothing else.
func (t *storeTest) noticesFor() {
	at := t.Clock.Now()
	for _, n := range []app.Notice{
		{Tenant: kit.Tenant, Title: "1", Users: []string{"ada", "a_b"}}, {Tenant: kit.Tenant, Title: "2", Groups: []string{"ops"}},
		{Tenant: kit.Tenant, Title: "3", Users: []string{"Ada"}}, {Tenant: "t2", Title: "4", Users: []string{"ada"}},
		{Tenant: kit.Tenant, Title: "5", Users: []string{"ad"}, Groups: []string{"op%", `o"p`}},
	} {
		n.At, n.Kind = at, app.NoticeLease
		t.Must(t.Store.Notify(t.Ctx, n))
	}
	for _, c := range []struct {
		reader *app.NoticeReader
		want   string
	}{
		{nil, "5 3 2 1"}, {&app.NoticeReader{User: "ada"}, "1"}, {&app.NoticeReader{User: "Ada"}, "3"}, {&app.NoticeReader{User: "a%"}, ""},
		{&app.NoticeReader{User: "axb"}, ""}, {&app.NoticeReader{User: "a_b"}, "1"}, {&app.NoticeReader{User: "ada", Groups: []string{"ops", "dev"}}, "2 1"},
		{&app.NoticeReader{User: "x", Groups: []string{`o"p`}}, "5"}, {&app.NoticeReader{User: "x", Groups: []string{"op%"}}, "5"}, {&app.NoticeReader{User: "x"}, ""},
	} {
		list, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, c.reader, 0, 10)
		t.Must(err)
		var got []string
		for _, n := range list {
			got = append(got, n.Title)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v reads %v, want %q", c.reader, got, c.want)
		}
	}
	list, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, nil, 3, 1)
	t.Must(err)
	if len(list) != 1 || list[0].Title != "2" {
		t.Errorf("before 3 there is %+v", list)
	}
}

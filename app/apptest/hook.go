package apptest

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/webhook"
)

var hookAdmin = app.Actor{Tenant: tenant, User: "root", Role: app.RoleAdmin}

func (t *storeTest) hook(name string, change ...func(*webhook.HookChange)) app.Hook {
	t.Helper()
	c := webhook.HookChange{Name: name, URL: "https://hooks.example.com/a-long-secret-in-the-path", Shown: "https://hooks.example.com/…",
		New: []byte(strings.Repeat("n", 32))}
	for _, f := range change {
		f(&c)
	}
	h, _, err := t.s.SaveHook(t.ctx, hookAdmin, c, t.clock.Now())
	t.must(err)
	return h
}

func (t *storeTest) tell(kind app.NoticeKind, titles ...string) {
	t.Helper()
	for _, title := range titles {
		t.must(t.s.Notify(t.ctx, app.Notice{At: t.clock.Now(), Tenant: tenant, Kind: kind, Title: title, Users: []string{"ada"}, Groups: []string{"ops"}}))
	}
	_, err := t.s.QueueDeliveries(t.ctx, t.clock.Now())
	t.must(err)
}

// due claims what is due as one server.
func (t *storeTest) due(holder string) []app.DueDelivery {
	t.Helper()
	due, _, err := t.s.ClaimDeliveries(t.ctx, app.DeliveryClaim{Holder: holder, Now: t.clock.Now(), For: 30 * time.Second, Most: 100, PerTenant: 100})
	t.must(err)
	for _, d := range due {
		t.must(d.Err)
	}
	return due
}

// ended says how an attempt went: taken without a code; again where it is tried again.
func (t *storeTest) ended(holder string, d app.DueDelivery, code app.Code, again time.Duration) error {
	t.Helper()
	e := app.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: holder, Attempt: d.Attempts, At: t.clock.Now(), Took: 20 * time.Millisecond, Status: 200,
		Request: "{}", Response: "thanks"}
	if code != "" {
		e.Err, e.Status = &app.Error{Code: code, Message: "It said no."}, 500
	}
	if again > 0 {
		e.Again = t.clock.Now().Add(again)
	}
	return t.s.EndDelivery(t.ctx, e)
}

func titles(due []app.DueDelivery) string {
	var all []string
	for _, d := range due {
		all = append(all, d.Hook+":"+d.What.Title)
	}
	return strings.Join(all, " ")
}

func (t *storeTest) wantDue(holder, want string) []app.DueDelivery {
	t.Helper()
	due := t.due(holder)
	if got := titles(due); got != want {
		t.Fatalf("due is %q, want %q", got, want)
	}
	return due
}

// hooks: made, changed and deleted; the secret is kept, turned over, and never told.
func (t *storeTest) hooks() {
	kinds := []app.NoticeKind{app.NoticeLease}
	h := t.hook("chat", func(c *webhook.HookChange) { c.Kinds = &kinds })
	if h.State != app.HookActive || h.URL != "https://hooks.example.com/…" || h.CreatedBy != "root" || fmt.Sprint(h.Kinds) != "[lease]" || h.Format != app.HookMuster {
		t.Fatalf("the hook is %+v", h)
	}
	_, _, err := t.s.SaveHook(t.ctx, hookAdmin, webhook.HookChange{Name: "none"}, t.clock.Now())
	t.code(err, app.EInvalid)
	_, _, err = t.s.SaveHook(t.ctx, hookAdmin, webhook.HookChange{Name: "chat", Format: app.HookMail}, t.clock.Now())
	t.code(err, app.EInvalid) // nobody to send it to
	_, err = t.s.Hook(t.ctx, "t2", "chat")
	t.code(err, app.ENotFound)
	t.tell(app.NoticeLease, "one")
	t.tell(app.NoticeAlarm, "not for it")
	d := t.wantDue("a", "chat:one")[0]
	if d.URL != "https://hooks.example.com/a-long-secret-in-the-path" || string(d.Secrets[0]) != strings.Repeat("n", 32) || len(d.Secrets) != 1 {
		t.Fatalf("claimed with %q and %d secrets", d.URL, len(d.Secrets))
	}
	t.must(t.ended("a", d, "", 0))
	t.hook("chat", func(c *webhook.HookChange) { c.URL, c.Secret = "", []byte(strings.Repeat("x", 24)) })
	t.tell(app.NoticeLease, "two")
	d = t.wantDue("a", "chat:two")[0]
	if len(d.Secrets) != 2 || d.Secrets[0][0] != 'x' || d.Secrets[1][0] != 'n' {
		t.Fatalf("after the change it is signed with %q", d.Secrets)
	}
	t.must(t.ended("a", d, "", 0))
	t.clock.Move(25 * time.Hour)
	t.tell(app.NoticeLease, "three")
	if d = t.wantDue("a", "chat:three")[0]; len(d.Secrets) != 1 || d.Secrets[0][0] != 'x' {
		t.Fatalf("a day later it is signed with %q", d.Secrets)
	}
	list, err := t.s.HookDeliveries(t.ctx, tenant, "chat", 0, 2)
	t.must(err)
	if len(list) != 2 || list[0].Title != "three" || list[0].State != app.DeliveryWaiting || list[1].State != app.DeliveryMade || list[1].Status != 200 {
		t.Fatalf("the deliveries are %+v", list)
	}
	list, err = t.s.HookDeliveries(t.ctx, tenant, "chat", list[1].ID, 2)
	t.must(err)
	if len(list) != 1 || list[0].Title != "one" {
		t.Fatalf("before them are %+v", list)
	}
	_, err = t.s.HookDelivery(t.ctx, "t2", "chat", d.ID)
	t.code(err, app.ENotFound)
	for i := range webhook.MaxHooks - 1 {
		t.hook(fmt.Sprintf("h%02d", i))
	}
	_, _, err = t.s.SaveHook(t.ctx, hookAdmin, webhook.HookChange{Name: "more", URL: "https://x"}, t.clock.Now())
	t.code(err, app.ETooLarge)
	t.must(t.s.DeleteHook(t.ctx, hookAdmin, "chat", t.clock.Now()))
	t.code(t.s.DeleteHook(t.ctx, hookAdmin, "chat", t.clock.Now()), app.ENotFound)
	t.code(t.ended("a", d, "", 0), app.EStale)
}

// hookOrder: each hook gets its notices one after the other, and what one waits for holds up no other.
func (t *storeTest) hookOrder() {
	t.hook("a")
	t.hook("b")
	t.tell(app.NoticeAlarm, "1", "2")
	due := t.wantDue("x", "a:1 b:1")
	t.wantDue("y", "")
	t.must(t.ended("x", due[0], "", 0))
	due = append(t.wantDue("x", "a:2"), due[1])
	t.must(t.ended("x", due[1], app.ETransient, time.Minute))
	t.must(t.ended("x", due[0], "", 0))
	t.wantDue("x", "") // 2 waits behind 1
	_, next, err := t.s.ClaimDeliveries(t.ctx, app.DeliveryClaim{Holder: "x", Now: t.clock.Now(), For: time.Minute, Most: 9, PerTenant: 9})
	t.must(err)
	if want := t.clock.Now().Add(time.Minute); !next.Equal(want) {
		t.Fatalf("the next is due at %s, want %s", next, want)
	}
	t.clock.Move(time.Minute)
	again := t.wantDue("x", "b:1")[0]
	if again.ID != due[1].ID || again.MessageID != due[1].MessageID || again.Attempts != 2 {
		t.Fatalf("tried again as %s, attempt %d", again.MessageID, again.Attempts)
	}
	t.must(t.ended("x", again, "", 0))
	last := t.wantDue("x", "b:2")[0]
	// The server dies before it can say what became of it: another one takes it when the claim has run out.
	t.clock.Move(29 * time.Second)
	t.wantDue("y", "")
	t.clock.Move(2 * time.Second)
	twice := t.wantDue("y", "b:2")[0]
	if twice.MessageID != last.MessageID {
		t.Fatal("the same notice has two names")
	}
	t.code(t.ended("x", last, "", 0), app.EStale)
	t.must(t.ended("y", twice, "", 0))
	full, err := t.s.HookDelivery(t.ctx, tenant, "b", again.ID)
	t.must(err)
	if len(full.Log) != 2 || full.Log[1].Code != app.ETransient || full.Log[0].Response != "thanks" || full.Request != "{}" {
		t.Fatalf("the log is %+v", full)
	}
	// A tenant has only so many at once.
	t.tell(app.NoticeAlarm, "3")
	some, _, err := t.s.ClaimDeliveries(t.ctx, app.DeliveryClaim{Holder: "x", Now: t.clock.Now(), For: time.Minute, Most: 9, PerTenant: 3, Busy: map[string]int{tenant: 2}})
	t.must(err)
	if len(some) != 1 {
		t.Fatalf("%d were claimed, there was room for one", len(some))
	}
}

// hookStops: after too many failures in a row, or when the receiver says so; admins are told, and what waited is kept as failed.
func (t *storeTest) hookStops() {
	t.hook("a")
	for i := range app.MostFailures {
		if h, err := t.s.Hook(t.ctx, tenant, "a"); err != nil || h.State != app.HookActive {
			t.Fatalf("after %d failures the hook is %s (%v)", i, h.State, err)
		}
		t.tell(app.NoticeAlarm, "n")
		t.must(t.ended("x", t.wantDue("x", "a:n")[0], app.EInvalid, 0))
	}
	h, err := t.s.Hook(t.ctx, tenant, "a")
	t.must(err)
	if h.State != app.HookStopped || !strings.Contains(h.Why, "100 deliveries") || h.Failures != app.MostFailures || h.Last == nil || h.Last.Status != 500 {
		t.Fatalf("after 100 failures the hook is %+v", h)
	}
	told, err := t.s.NoticesFor(t.ctx, tenant, nil, 0, 1)
	t.must(err)
	if len(told) != 1 || told[0].Kind != app.NoticeHook {
		t.Fatalf("the admins are told %+v", told)
	}
	t.tell(app.NoticeAlarm, "missed")
	t.wantDue("x", "")
	_, err = t.s.Redeliver(t.ctx, hookAdmin, "a", 1, t.clock.Now())
	t.code(err, app.EConflict)
	// A test goes through all the same, and changes nothing about that.
	test, err := t.s.TestHook(t.ctx, hookAdmin, "a", t.clock.Now())
	t.must(err)
	d := t.wantDue("x", "a:This is a test")[0]
	if d.ID != test.ID || test.Kind != app.NoticeTest {
		t.Fatalf("the test is %+v", test)
	}
	t.must(t.ended("x", d, "", 0))
	if h, err = t.s.Hook(t.ctx, tenant, "a"); err != nil || h.State != app.HookStopped {
		t.Fatalf("after a test the hook is %s (%v)", h.State, err)
	}
	on, off := true, false
	if h = t.hook("a", func(c *webhook.HookChange) { c.URL, c.Enabled = "", &on }); h.State != app.HookActive || h.Failures != 0 {
		t.Fatalf("switched on again it is %+v", h)
	}
	t.wantDue("x", "") // what was missed is not sent late
	t.tell(app.NoticeAlarm, "again", "and again")
	d = t.wantDue("x", "a:again")[0]
	t.must(t.s.EndDelivery(t.ctx, app.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: "x", Attempt: d.Attempts, At: t.clock.Now(), Status: 410,
		Err: app.Errorf(app.ENotFound, "It answered 410 Gone."), Stop: "It is gone."}))
	if h, err = t.s.Hook(t.ctx, tenant, "a"); err != nil || h.State != app.HookStopped || h.Why != "It is gone." || h.Waiting != 0 {
		t.Fatalf("after 410 the hook is %+v (%v)", h, err)
	}
	t.hook("a", func(c *webhook.HookChange) { c.URL, c.Enabled = "", &on })
	list, err := t.s.HookDeliveries(t.ctx, tenant, "a", 0, 1)
	t.must(err)
	if list[0].Title != "and again" || list[0].State != app.DeliveryFailed || list[0].Code != app.ECancelled {
		t.Fatalf("what waited is %+v", list[0])
	}
	if _, err = t.s.Redeliver(t.ctx, hookAdmin, "a", list[0].ID, t.clock.Now()); err != nil {
		t.Fatal(err)
	}
	_, err = t.s.Redeliver(t.ctx, hookAdmin, "a", list[0].ID, t.clock.Now())
	t.code(err, app.EConflict)
	d = t.wantDue("x", "a:and again")[0]
	if h = t.hook("a", func(c *webhook.HookChange) { c.URL, c.Enabled = "", &off }); h.State != app.HookOff {
		t.Fatalf("switched off it is %s", h.State)
	}
	t.must(t.ended("x", d, "", 0)) // it was under way already
}

// hookMemory: old deliveries and notices are forgotten, what waits is not.
func (t *storeTest) hookMemory() {
	t.hook("a")
	t.tell(app.NoticeAlarm, "old")
	t.must(t.ended("x", t.wantDue("x", "a:old")[0], "", 0))
	t.clock.Move(app.DeliveryMemory + time.Hour)
	t.tell(app.NoticeAlarm, "new")
	t.must(t.s.ForgetDeliveries(t.ctx, t.clock.Now()))
	list, err := t.s.HookDeliveries(t.ctx, tenant, "a", 0, 10)
	t.must(err)
	if len(list) != 1 || list[0].Title != "new" {
		t.Fatalf("kept are %+v", list)
	}
	if told, err := t.s.NoticesFor(t.ctx, tenant, nil, 0, 10); err != nil || len(told) != 2 {
		t.Fatalf("%d notices are kept (%v), want 2", len(told), err)
	}
	t.clock.Move(app.NoticeMemory - app.DeliveryMemory)
	t.must(t.s.ForgetDeliveries(t.ctx, t.clock.Now()))
	if told, err := t.s.NoticesFor(t.ctx, tenant, nil, 0, 10); err != nil || len(told) != 1 || told[0].Title != "new" {
		t.Fatalf("kept are %+v (%v)", told, err)
	}
}

// noticesFor: everybody reads what is meant for it, and nothing else.
func (t *storeTest) noticesFor() {
	at := t.clock.Now()
	for _, n := range []app.Notice{
		{Tenant: tenant, Title: "1", Users: []string{"ada", "a_b"}}, {Tenant: tenant, Title: "2", Groups: []string{"ops"}},
		{Tenant: tenant, Title: "3", Users: []string{"Ada"}}, {Tenant: "t2", Title: "4", Users: []string{"ada"}},
		{Tenant: tenant, Title: "5", Users: []string{"ad"}, Groups: []string{"op%", `o"p`}},
	} {
		n.At, n.Kind = at, app.NoticeLease
		t.must(t.s.Notify(t.ctx, n))
	}
	for _, c := range []struct {
		reader *app.NoticeReader
		want   string
	}{
		{nil, "5 3 2 1"}, {&app.NoticeReader{User: "ada"}, "1"}, {&app.NoticeReader{User: "Ada"}, "3"}, {&app.NoticeReader{User: "a%"}, ""},
		{&app.NoticeReader{User: "axb"}, ""}, {&app.NoticeReader{User: "a_b"}, "1"}, {&app.NoticeReader{User: "ada", Groups: []string{"ops", "dev"}}, "2 1"},
		{&app.NoticeReader{User: "x", Groups: []string{`o"p`}}, "5"}, {&app.NoticeReader{User: "x", Groups: []string{"op%"}}, "5"}, {&app.NoticeReader{User: "x"}, ""},
	} {
		list, err := t.s.NoticesFor(t.ctx, tenant, c.reader, 0, 10)
		t.must(err)
		var got []string
		for _, n := range list {
			got = append(got, n.Title)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v reads %v, want %q", c.reader, got, c.want)
		}
	}
	list, err := t.s.NoticesFor(t.ctx, tenant, nil, 3, 1)
	t.must(err)
	if len(list) != 1 || list[0].Title != "2" {
		t.Errorf("before 3 there is %+v", list)
	}
}

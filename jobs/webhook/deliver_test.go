package webhook

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/webhook"
)

var admin = app.Actor{Tenant: "t", User: "root", Role: app.RoleAdmin}

// desk is a store with a clock, and a server that delivers from it.
type desk struct {
	*testing.T
	s     *store.Store
	clock *apptest.Clock
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	s, err := store.Open(t.Context(), storetest.File(t), bytes.Repeat([]byte{7}, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &desk{t, s, apptest.NewClock()}
}

func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) hook(name, url string, change ...func(*webhook.EndpointChange)) {
	d.Helper()
	c := webhook.EndpointChange{Name: name, URL: url, Shown: "http://…", New: secret}
	for _, f := range change {
		f(&c)
	}
	_, _, err := d.s.SaveHook(d.Context(), admin, c, d.clock.Now())
	d.must(err)
}

func (d *desk) tell(titles ...string) {
	d.Helper()
	for _, title := range titles {
		d.must(d.s.Notify(d.Context(), app.Notice{At: d.clock.Now(), Tenant: "t", Kind: app.NoticeAlarm, Title: title, About: app.ClusterSubject("web")}))
	}
}

// wait moves the clock, and wakes who looks at it.
func (d *desk) wait(by time.Duration) {
	d.Helper()
	d.clock.Move(by)
	d.must(d.s.Notify(d.Context(), app.Notice{At: d.clock.Now(), Tenant: "none", Kind: app.NoticeAlarm, Title: "tick"}))
}

// run delivers until the test ends or it is stopped, which waits for the end.
func (d *desk) run(store Store, limit time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(d.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&Deliverer{Name: fmt.Sprintf("server %p", done), Store: store, Sender: sender(limit), Portal: func() Portal { return portalAt("https://muster.test") }, Log: quiet(),
			Now: d.clock.Now, Chance: func() float64 { return 0 }}).Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	d.Cleanup(stop)
	return stop
}

// until waits for the newest delivery of a hook to be as is asked for.
func (d *desk) until(hook string, is func(webhook.Delivery) bool) webhook.Delivery {
	d.Helper()
	var last webhook.Delivery
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		list, err := d.s.HookDeliveries(d.Context(), "t", hook, 0, 1)
		d.must(err)
		if len(list) > 0 {
			if last = list[0]; is(last) {
				return last
			}
		}
	}
	d.Fatalf("it never came to that; the delivery is %+v", last)
	return last
}

func made(x webhook.Delivery) bool   { return x.State == webhook.DeliveryMade }
func failed(x webhook.Delivery) bool { return x.State == webhook.DeliveryFailed }

// tried is a delivery that waits to be tried again.
func (d *desk) tried(n int) func(webhook.Delivery) bool {
	return func(x webhook.Delivery) bool {
		return x.Attempts == n && x.State == webhook.DeliveryWaiting && x.NextAt.After(d.clock.Now())
	}
}

func TestDeliver(t *testing.T) {
	d := newDesk(t)
	rec := newReceiver(t, nil)
	d.hook("a", rec.srv.URL)
	d.run(d.s, 0)
	began := time.Now()
	d.tell("one", "two", "three")
	for i, want := range []string{"one", "two", "three"} {
		g := rec.next()
		if g.title != want || !strings.Contains(string(g.body), `"url":"https://muster.test/clusters/web"`) {
			t.Errorf("number %d is %s", i, g.body)
		}
	}
	if took := time.Since(began); took > fallback*9/10 {
		t.Errorf("the notices took %s: nothing woke the sender", took)
	}
	d.until("a", made)
	if _, err := d.s.TestHook(t.Context(), admin, "a", d.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if g := rec.next(); g.title != "Test notification" {
		t.Errorf("the test is %s", g.body)
	}
}

// 500 for a while, then 200: the same message is sent again, later each time, and those behind it wait their turn.
func TestRetries(t *testing.T) {
	d := newDesk(t)
	fails := atomic.Int64{}
	fails.Store(3)
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ got) {
		if fails.Add(-1) >= 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	d.hook("a", rec.srv.URL)
	d.run(d.s, 0)
	d.tell("one")
	first := rec.next()
	for n, wait := range []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second} {
		x := d.until("a", d.tried(n+1))
		if got := x.NextAt.Sub(d.clock.Now()); got != wait || x.Status != 500 || x.Code != app.ETransient {
			t.Fatalf("after try %d it waits %s: %+v", n+1, got, x)
		}
		d.wait(wait)
		if again := rec.next(); again.id != first.id || !bytes.Equal(again.body, first.body) {
			t.Errorf("tried again as %s %s, was %s %s", again.id, again.body, first.id, first.body)
		}
	}
	d.until("a", made)
	d.tell("two")
	if g := rec.next(); g.title != "two" {
		t.Errorf("then came %q", g.title)
	}
}

func TestRetryAfterAndEnd(t *testing.T) {
	d := newDesk(t)
	answer := atomic.Int64{}
	answer.Store(429)
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ got) {
		if answer.Load() == 429 {
			w.Header().Set("Retry-After", "3600")
		}
		w.WriteHeader(int(answer.Load()))
	})
	d.hook("a", rec.srv.URL)
	d.run(d.s, 0)
	d.tell("one")
	rec.next()
	if x := d.until("a", d.tried(1)); x.NextAt.Sub(d.clock.Now()) != time.Hour {
		t.Fatalf("it waits until %s", x.NextAt)
	}
	// What was refused for good is not tried again.
	answer.Store(422)
	d.wait(time.Hour)
	rec.next()
	if x := d.until("a", failed); x.Attempts != 2 || x.Status != 422 || x.Error != "The receiver responded 422 Unprocessable Entity." {
		t.Errorf("refused: %+v", x)
	}
	// After a day there is no other try.
	answer.Store(503)
	d.tell("two")
	rec.next()
	tries := 1
	for ; d.until("a", func(x webhook.Delivery) bool { return failed(x) || d.tried(tries)(x) }).State == webhook.DeliveryWaiting; tries++ {
		d.wait(time.Hour)
		rec.next()
	}
	if tries < 20 || tries > 40 {
		t.Errorf("it was tried %d times in a day", tries)
	}
}

func TestGoneStopsTheHook(t *testing.T) {
	d := newDesk(t)
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ got) { w.WriteHeader(http.StatusGone) })
	d.hook("a", rec.srv.URL)
	d.tell("one", "two")
	d.run(d.s, 0)
	rec.next()
	x := d.until("a", failed)
	if x.Title != "two" || x.Error != "The webhook was stopped before this was sent." {
		t.Errorf("what waited is %+v", x)
	}
	h, err := d.s.Hook(t.Context(), "t", "a")
	d.must(err)
	if h.State != webhook.HookStopped || !strings.Contains(h.Problem, "410 Gone") {
		t.Errorf("the hook is %+v", h)
	}
}

// Hooks whose receivers hang hold up no other: not of another tenant, and not of their own.
func TestSlowReceiversBlockNoOthers(t *testing.T) {
	d := newDesk(t)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	slow := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ got) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	quick := newReceiver(t, nil)
	for i := range perTenant - 1 {
		d.hook(fmt.Sprintf("slow%d", i), slow.srv.URL)
	}
	d.hook("quick", quick.srv.URL)
	stop := d.run(d.s, hangs)
	d.tell("one", "two", "three")
	for range 3 {
		quick.next()
	}
	// More hang than a tenant may have at once: it waits for itself, and others do not.
	d.hook("slow", slow.srv.URL)
	other := admin
	other.Tenant = "u"
	_, _, err := d.s.SaveHook(t.Context(), other, webhook.EndpointChange{Name: "quick", URL: quick.srv.URL, New: secret}, d.clock.Now())
	d.must(err)
	d.tell("four")
	d.must(d.s.Notify(t.Context(), app.Notice{At: d.clock.Now(), Tenant: "u", Kind: app.NoticeAlarm, Title: "of another"}))
	for quick.next().title != "of another" {
	}
	began := time.Now()
	stop()
	if took := time.Since(began); took > hangs/2 {
		t.Errorf("the end took %s", took)
	}
}

// dying is a store of a server that is killed between what it sends and the note of it.
type dying struct {
	*store.Store
	died chan struct{}
}

func (d *dying) EndDelivery(context.Context, webhook.DeliveryEnd) error {
	d.died <- struct{}{}
	return app.Errorf(app.ETransient, "This server is dead.")
}

func TestCrashBetweenSendAndRecord(t *testing.T) {
	d := newDesk(t)
	rec := newReceiver(t, nil)
	d.hook("a", rec.srv.URL)
	d.tell("one", "two")
	dead := &dying{d.s, make(chan struct{}, 10)}
	stop := d.run(dead, 0)
	first := rec.next()
	<-dead.died
	stop()
	d.run(d.s, 0)
	d.wait(claimFor / 2)
	d.wait(claimFor/2 + time.Second)
	second := rec.next()
	if first.title != "one" || second.id != first.id || !bytes.Equal(first.body, second.body) {
		t.Errorf("it came as %s %s, then as %s %s", first.id, first.body, second.id, second.body)
	}
	if third := rec.next(); third.title != "two" || third.id == first.id {
		t.Errorf("then came %s %s", third.id, third.body)
	}
}

// Two servers that both believe to lead send nothing twice.
func TestTwoServers(t *testing.T) {
	d := newDesk(t)
	rec := newReceiver(t, nil)
	d.hook("a", rec.srv.URL)
	d.hook("b", rec.srv.URL)
	d.run(d.s, 0)
	d.run(d.s, 0)
	const many = 50
	for i := range many {
		d.tell(fmt.Sprint(i))
	}
	seen := map[string]int{}
	for range 2 * many {
		seen[rec.next().id]++
	}
	d.until("a", made)
	d.until("b", made)
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	if len(seen) != 2*many {
		t.Errorf("%d messages came, want %d", len(seen), 2*many)
	}
}

// quietStore counts how often it is asked.
type quietStore struct {
	*store.Store
	asked atomic.Int64
}

func (q *quietStore) QueueDeliveries(ctx context.Context, now time.Time) (int, error) {
	q.asked.Add(1)
	return q.Store.QueueDeliveries(ctx, now)
}

func TestIdleDelivererDoesNotPoll(t *testing.T) {
	d := newDesk(t)
	q := &quietStore{Store: d.s}
	stop := d.run(q, 0)
	for q.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	commits := d.s.Commits()
	time.Sleep(300 * time.Millisecond)
	stop()
	if n, c := q.asked.Load(), d.s.Commits()-commits; n > 2 || c > 1 {
		t.Errorf("in a third of a second with nothing to do the store was asked %d times, and committed %d", n, c)
	}
}

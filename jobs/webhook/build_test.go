package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/webhook"
)

const hangs = 5 * time.Minute // reached only where something hangs

// called is a build of a hook with a callback address.
func (d *desk) called(hook build.BuildHook, key, url string) build.Build {
	d.Helper()
	queue := 0
	done, err := d.s.IngestBuild(d.Context(), build.IngestOrder{Hook: hook, Who: admin, Uniq: key, Now: d.clock.Now(),
		Event: app.BuildEvent{Build: key, Job: "test"},
		Begin: &build.Start{Key: key, Rule: build.Rule{Name: "web", Concurrency: 9, Queue: &queue}, Call: build.Call{URL: url, Shown: "http://…"}}})
	d.must(err)
	return *done.Build
}

// move brings a build to a state, and has it notified.
func (d *desk) move(b build.Build, s app.BuildState, nodes ...app.BuildNode) {
	d.Helper()
	b, err := d.s.Build(d.Context(), "t", b.ID)
	d.must(err)
	b.State, b.Message = s, "It is "+string(s)+"."
	n := b.News(d.clock.Now(), nodes)
	done, err := d.s.MoveBuild(d.Context(), b, nil, &n, d.clock.Now())
	if d.must(err); !done {
		d.Fatal("the build has moved")
	}
}

// buildDesk is a deliverer with a build hook whose secret is that of a receiver.
func buildDesk(t *testing.T, r *receiver) (*desk, build.BuildHook) {
	d := newDesk(t)
	owner := "ci"
	h, _, err := d.s.SaveBuildHook(d.Context(), admin, build.BuildHookChange{ID: "abc", Name: "ci", System: "generic", Owner: &owner, Secret: r.secret, TokenKey: []byte("key")}, d.clock.Now())
	d.must(err)
	return d, h
}

// toldUntil waits until the callbacks of a build are as is asked for.
func (d *desk) toldUntil(b build.Build, want string) build.Callbacks {
	d.Helper()
	var got string
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		b, err := d.s.Build(d.Context(), "t", b.ID)
		d.must(err)
		var all []string
		for _, c := range b.Callback.Deliveries {
			all = append(all, fmt.Sprintf("%s %s %d", c.State, c.Outcome, c.Status))
		}
		if got = strings.Join(all, "; "); got == want {
			return *b.Callback
		}
	}
	d.Fatalf("the callbacks are %q, want %q", got, want)
	return build.Callbacks{}
}

// A build is notified the same way as people: signed, without following redirects, again after what may pass, in the order of its states,
// under the same number. Nothing of the address that may be secret is written to the log.
func TestBuildCallbacksAreOrdered(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	fail.Store(true)
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, g got) {
		if fail.Load() && strings.Contains(string(g.body), "build.ready") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	d, h := buildDesk(t, r)
	log := &lockedLog{}
	stop := d.callBack(log)
	b := d.called(h, "web/1", strings.Replace(r.srv.URL, "://", "://ci:hunter2@", 1)+"/in?token=also-secret")
	d.move(b, app.BuildReady, app.BuildNode{Name: "n1", Address: "192.0.2.9", User: "root", Port: 22})
	first := r.next()
	d.toldUntil(b, "ready waiting 503")
	d.move(b, app.BuildOver)
	d.toldUntil(b, "ready waiting 503; ended waiting 0")
	fail.Store(false)
	d.clock.Move(6 * time.Second)
	other := d.called(h, "web/2", r.srv.URL+"/other") // which wakes it, too
	again, last := r.next(), r.next()
	shown := d.toldUntil(b, "ready delivered 200; ended delivered 200")
	var body struct {
		Type      string
		Timestamp time.Time
		Data      buildData
	}
	if err := json.Unmarshal(again.body, &body); err != nil || body.Type != "build.ready" || body.Data.State != app.BuildReady || body.Data.Build != b.ID || body.Data.Key != "web/1" ||
		body.Data.Message != "It is ready." || body.Data.URL != fmt.Sprintf("https://muster.test/hooks/abc/builds/%d", b.ID) || len(body.Data.Nodes) != 1 || body.Data.Nodes[0].Address != "192.0.2.9" {
		t.Errorf("the message is %s, %v", again.body, err)
	}
	if first.id != again.id || first.id == last.id || !bytes.Equal(first.body, again.body) || first.id != shown.Deliveries[0].MessageID {
		t.Errorf("first %s %s\nagain %s %s\nlast %s", first.id, first.body, again.id, again.body, last.id)
	}
	if user, password, _ := (&http.Request{Header: again.header}).BasicAuth(); user != "ci" || password != "hunter2" {
		t.Errorf("the address's own user is not sent: %q", user)
	}
	if !strings.Contains(string(last.body), `"type":"build.ended"`) || strings.Contains(string(last.body), "192.0.2.9") {
		t.Errorf("the last is %s", last.body)
	}
	d.move(other, app.BuildFailed)
	r.next()
	d.toldUntil(other, "failed delivered 200")
	stop()
	if text := log.String(); strings.Contains(text, "hunter2") || strings.Contains(text, "also-secret") || !strings.Contains(text, "503") {
		t.Errorf("the log says %s", text)
	}
}

// A failing notification is given up in the end, and the build stays as it was.
func TestBuildCallbackFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		header string
		want   string
		words  string
	}{
		"not found": {http.StatusNotFound, "", "failed failed 404", "404 Not Found"},
		"redirect":  {http.StatusFound, "http://127.0.0.1:1/elsewhere", "failed failed 302", "Redirects aren't followed"},
		"refused":   {http.StatusUnauthorized, "", "failed failed 401", "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, g got) {
				if tc.header != "" {
					w.Header().Set("Location", tc.header)
				}
				w.WriteHeader(tc.status)
			})
			d, h := buildDesk(t, r)
			d.callBack(&lockedLog{})
			b := d.called(h, "web/1", r.srv.URL)
			d.move(b, app.BuildFailed)
			if c := d.toldUntil(b, tc.want); !strings.Contains(c.Deliveries[0].Error, tc.words) || c.Deliveries[0].Attempts != 1 {
				t.Errorf("it was given up as %+v", c.Deliveries[0])
			}
		})
	}
	t.Run("away forever", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, g got) { w.WriteHeader(http.StatusBadGateway) })
		d, h := buildDesk(t, r)
		d.callBack(&lockedLog{})
		b := d.called(h, "web/1", r.srv.URL)
		d.move(b, app.BuildReady)
		began, n := d.clock.Now(), 0
		for {
			r.next()
			n++
			var c build.Callback
			for c = d.notified(b); c.Attempts < n || c.Outcome == webhook.DeliveryWaiting && c.Status == 0; c = d.notified(b) {
				time.Sleep(time.Millisecond)
			}
			for c.Outcome == webhook.DeliveryWaiting && !c.NextAt.After(d.clock.Now()) {
				time.Sleep(time.Millisecond)
				c = d.notified(b)
			}
			if c.Outcome == webhook.DeliveryFailed {
				break
			}
			d.clock.Move(c.NextAt.Sub(d.clock.Now()))
			d.called(h, fmt.Sprint("wakes ", n), r.srv.URL)
		}
		if took := d.clock.Now().Sub(began); n < 10 || n > 20 || took > app.BuildCallbackTime {
			t.Errorf("it was tried %d times in %s", n, took)
		}
	})
	t.Run("a private address", func(t *testing.T) {
		t.Parallel()
		d, h := buildDesk(t, newReceiver(t, nil))
		d.callBack(&lockedLog{})
		b := d.called(h, "web/1", "https://10.1.2.3/in?token=also-secret")
		d.move(b, app.BuildReady)
		if c := d.toldUntil(b, "ready failed 0"); !strings.Contains(c.Deliveries[0].Error, "private") || strings.Contains(c.Deliveries[0].Error, "also-secret") {
			t.Errorf("it was given up as %+v", c.Deliveries[0])
		}
	})
}

func (d *desk) notified(b build.Build) build.Callback {
	b, err := d.s.Build(d.Context(), "t", b.ID)
	d.must(err)
	return b.Callback.Deliveries[0]
}

// callBack lets two servers tell builds until the test ends or they are stopped.
func (d *desk) callBack(log *lockedLog) (stop func()) {
	ctx, cancel := context.WithCancel(d.Context())
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			(&Deliverer{Name: fmt.Sprintf("server %d", i), Store: d.s.BuildCallbacks(), Sender: sender(0), Portal: func() Portal { return portalAt("https://muster.test/") },
				Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: d.clock.Now, Chance: func() float64 { return 0 }}).Run(ctx)
		})
	}
	stop = func() { cancel(); wg.Wait() }
	d.Cleanup(stop)
	return stop
}

// A body with more nodes than there is room for says how many it leaves out.
func TestLargeClusterCallbacksAreTruncated(t *testing.T) {
	t.Parallel()
	n := app.BuildNews{Build: 1, State: app.BuildReady, HookID: "a"}
	for i := range 20000 {
		n.Nodes = append(n.Nodes, app.BuildNode{Name: fmt.Sprintf("n%d", i), Address: "192.0.2.9", Services: []string{"web"}})
	}
	b, err := body(webhook.DueDelivery{BuildNews: &n}, portalAt(""))
	var body struct{ Data buildData }
	if err != nil || len(b) > webhook.MaxHookBody || json.Unmarshal(b, &body) != nil || len(body.Data.Nodes) < 100 || len(body.Data.Nodes)+body.Data.More != 20000 || body.Data.URL != "" {
		t.Errorf("%d bytes, %d nodes and %d more, %v", len(b), len(body.Data.Nodes), body.Data.More, err)
	}
}

type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

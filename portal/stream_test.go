package portal

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/portal/cluster"
	portalsite "muster/portal/site"
)

// event is one server-sent event.
type event struct{ id, name, data string }

// reader reads a stream event by event.
type reader struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
	stop context.CancelFunc
}

// follow opens a stream; it is closed at the end of the test at the latest.
func (s *testSite) follow(path string, headers ...string) *reader {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), hangs)
	r := s.request("GET", path, "", append([]string{"Accept", "text/event-stream"}, headers...)...).WithContext(ctx)
	res, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if ct := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || ct != "text/event-stream" {
		s.t.Fatalf("the stream answers %d %s", res.StatusCode, ct)
	}
	rd := &reader{s.t, res.Body, bufio.NewReader(res.Body), stop}
	s.t.Cleanup(rd.close)
	return rd
}

func (r *reader) close() { r.stop(); _ = r.body.Close() }

// next returns the next event; ok is false when the stream has ended.
func (r *reader) next() (e event, ok bool) {
	r.t.Helper()
	var data []string
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return event{}, false
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && data != nil:
			e.data = strings.Join(data, "\n")
			return e, true
		case field == "id":
			e.id = value
		case field == "event":
			e.name = value
		case field == "data":
			data = append(data, value)
		}
	}
}

// until reads on to an event of that name that contains a text.
func (r *reader) until(name, text string) event {
	r.t.Helper()
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended before %s with %q", name, text)
		}
		if e.name == name && strings.Contains(e.data, text) {
			return e
		}
	}
}

func TestLive(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(id, 2)
	after := attr(s.get("/clusters/"+id).find("live"), "data-after")
	r := s.follow("/clusters/" + id + "/live?operation=1&after=" + after)
	r.until("part", "2 of 25 steps done")
	r.until("steps", `"c0":["succeeded",1]`)
	r.until("part", "n3-c01")

	s.f.advance(id, 3)
	r.until("part", "5 of 25 steps done")
	var d struct {
		Cells  map[string][2]any
		Counts map[string]int
	}
	e := r.until("steps", "")
	if err := json.Unmarshal([]byte(e.data), &d); err != nil || d.Counts["succeeded"] != 5 || d.Cells["c0"][0] != nil {
		t.Errorf("the second update of the steps is %s (%v)", e.data, err)
	}
	e = r.until("log", "n1.namenode.install")
	if strings.Contains(e.data, "n1.create") {
		t.Errorf("lines that the page has are sent again: %s", e.data)
	}
	r.close()
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 0 })

	t.Run("a reader that was away gets what it missed", func(t *testing.T) {
		s.f.advance(id, 2)
		r := s.follow("/clusters/"+id+"/live?operation=1&after="+after, "Last-Event-ID", e.id)
		r.until("part", "7 of 25")
		got := r.until("log", "")
		if strings.Contains(got.data, "n1.namenode.install") || !strings.Contains(got.data, "n1.namenode.initialize") {
			t.Errorf("the lines are %s", got.data)
		}
		r.close()
	})
	t.Run("a page with an old plan is given the new one, and the end", func(t *testing.T) {
		r := s.follow("/clusters/" + id + "/live?operation=1&after=" + after)
		r.until("part", "7 of 25")
		s.post("/clusters/"+id+"/delete", nil)
		r.until("part", "to delete, requested by ada")
		for s.f.advance(id, 1) {
		}
		r.until("part", "Deleted: all machines were deleted")
		r.until("end", "")
		if e, ok := r.next(); ok {
			t.Errorf("after the end comes %v", e)
		}
	})
	t.Run("the log of one node", func(t *testing.T) {
		r := s.follow("/clusters/" + id + "/live?operation=2&node=n2")
		if e := r.until("log", ""); strings.Contains(e.data, `"n1.`) || !strings.Contains(e.data, `"n2.`) {
			t.Errorf("the log of n2 is %s", e.data)
		}
	})
	t.Run("nothing to follow", func(t *testing.T) {
		if a := s.get("/clusters/none/live", "Accept", "text/event-stream"); a.status != http.StatusNotFound {
			t.Errorf("a stream of no cluster answers %d", a.status)
		}
		s.post("/signout", nil)
		if a := s.get("/clusters/"+id+"/live", "Accept", "text/event-stream"); a.status != http.StatusUnauthorized {
			t.Errorf("a stranger's stream answers %d", a.status)
		}
	})
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 0 })
}

// TestLiveIsCoalesced changes things much faster than pages are updated.
func TestLiveIsCoalesced(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 50)
	r := s.follow("/clusters/" + id + "/live")
	begun := time.Now()
	go func() {
		for s.f.advance(id, 1) {
			time.Sleep(time.Millisecond)
		}
	}()
	heads := 0
	for {
		e, ok := r.next()
		if !ok || e.name == "part" && strings.Contains(e.data, "Running as requested") {
			break
		}
		if e.name == "part" && strings.Contains(e.data, `id="now"`) {
			heads++
		}
	}
	if most := int(time.Since(begun)/portalsite.StreamGap) + 2; heads > most {
		t.Errorf("the page was updated %d times in %v", heads, time.Since(begun))
	}
}

func TestStreamsEndAtClose(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	page := s.follow("/clusters/" + id + "/live")
	page.until("part", "")
	api := s.follow("/api/v1/clusters/"+id+"/events", "Authorization", "Bearer token-of-ada")
	api.next()
	polled := make(chan seen, 1)
	poll := s.request("GET", "/api/v1/clusters/"+id+"/events?after=9999&wait=30", "", "Authorization", "Bearer token-of-ada")
	go func() { polled <- s.do(poll) }()
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 3 })
	_ = s.p.Close()
	_ = s.p.Close()
	for _, r := range []*reader{page, api} {
		for {
			e, ok := r.next()
			if !ok {
				break
			}
			if e.name == "end" {
				t.Error("a page hears that the operation has finished, which it hasn't")
			}
		}
	}
	if a := <-polled; strings.TrimSpace(a.body) != `{"events":[]}` {
		t.Errorf("the long poll answers %s", a.body)
	}
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 0 })
	s.get("/clusters").reads(http.StatusOK, "lake")
}

func TestStreamsAreBounded(t *testing.T) {
	for _, x := range []struct {
		name   string
		most   int
		take   func(*portalsite.Streams, app.Actor) (func(), error)
		others func(*portalsite.Streams, app.Actor) (func(), error)
	}{
		{"pages", portalsite.StreamsByUser, (*portalsite.Streams).Take, (*portalsite.Streams).TakeAsk},
		{"programs", portalsite.AsksByUser, (*portalsite.Streams).TakeAsk, (*portalsite.Streams).Take},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newStreams()
			var free []func()
			for range x.most {
				f, err := x.take(s, ada)
				if err != nil {
					t.Fatal(err)
				}
				free = append(free, f)
			}
			if _, err := x.take(s, ada); app.CodeOf(err) != app.ERateLimit {
				t.Errorf("one more is answered %v", err)
			}
			if f, err := x.take(s, root); err != nil {
				t.Errorf("someone else gets %v", err)
			} else {
				f()
			}
			if f, err := x.others(s, ada); err != nil {
				t.Errorf("the other kind is answered %v", err)
			} else {
				f()
			}
			for _, f := range free {
				f()
			}
			if len(s.Open) != 0 {
				t.Errorf("%v are still counted", s.Open)
			}
		})
	}
}

// A program that does not wait takes no place, so it can always ask.
func TestAsksThatDoNotWaitAreNotCounted(t *testing.T) {
	s := visit(t)
	id := s.cluster(ada, "lake", "hadoop", 3)
	for range portalsite.AsksByUser {
		free, err := s.p.Streams.TakeAsk(ada)
		if err != nil {
			t.Fatal(err)
		}
		defer free()
	}
	if a := s.call("GET", "/clusters/"+id+"/events?wait=1", ""); a.status != http.StatusTooManyRequests || !strings.Contains(a.body, "wait=0") {
		t.Errorf("one that would wait is answered %d %s", a.status, a.body)
	}
	if a := s.call("GET", "/clusters/"+id+"/events?wait=0", ""); a.status != http.StatusOK {
		t.Errorf("one that does not wait is answered %d %s", a.status, a.body)
	}
}

func TestAPIEvents(t *testing.T) {
	s := visit(t)
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(id, 3)
	all := as[cluster.EventList](s.call("GET", "/clusters/"+id+"/events", ""), 200).Events
	if len(all) != 4 || all[0].Kind != app.EventOperation || all[3].Step != "n1.bootstrap" {
		t.Fatalf("the events are %+v", all)
	}
	last := all[3].Seq
	t.Run("after a number", func(t *testing.T) {
		if l := as[cluster.EventList](s.call("GET", fmt.Sprintf("/clusters/%s/events?after=%d", id, all[1].Seq), ""), 200); len(l.Events) != 2 {
			t.Errorf("the events are %+v", l)
		}
		if a := s.call("GET", fmt.Sprintf("/clusters/%s/events?after=%d", id, last), ""); strings.TrimSpace(a.body) != `{"events":[]}` {
			t.Errorf("no events are %s", a.body)
		}
	})
	t.Run("a long poll", func(t *testing.T) {
		got := make(chan seen, 1)
		r := s.request("GET", fmt.Sprintf("/api/v1/clusters/%s/events?after=%d&wait=20", id, last), "", "Authorization", "Bearer token-of-ada")
		go func() { got <- s.do(r) }()
		eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 1 })
		s.f.advance(id, 1)
		if l := as[cluster.EventList](<-got, 200); len(l.Events) != 1 || l.Events[0].Done != 4 {
			t.Errorf("the poll answers %+v", l)
		}
		if a := s.call("GET", "/clusters/"+id+"/events?wait=31", ""); a.status != 422 {
			t.Errorf("a longer wait than we allow answers %d", a.status)
		}
	})
	t.Run("a stream, and where it broke", func(t *testing.T) {
		token := []string{"Authorization", "Bearer token-of-ada"}
		r := s.follow("/api/v1/clusters/"+id+"/events", token...)
		for i := range 5 {
			e, _ := r.next()
			var v app.Event
			if err := json.Unmarshal([]byte(e.data), &v); err != nil || e.id != strconv.FormatInt(v.Seq, 10) || i < 4 && v.Seq != all[i].Seq {
				t.Fatalf("event %d is %+v (%v)", i, e, err)
			}
		}
		s.f.advance(id, 1)
		if e, _ := r.next(); !strings.Contains(e.data, `"steps_done":5`) && !strings.Contains(e.data, `"done":5`) {
			t.Errorf("the new event is %+v", e)
		}
		r.close()
		r = s.follow("/api/v1/clusters/"+id+"/events?after=0", append(token, "Last-Event-ID", strconv.FormatInt(last, 10))...)
		if e, _ := r.next(); !strings.Contains(e.data, `"done":4`) {
			t.Errorf("after the break comes %+v", e)
		}
		r.close()
		if a := s.call("GET", "/clusters/"+id+"/events", "", "Accept", "text/event-stream", "Last-Event-ID", "x"); a.status != 422 {
			t.Errorf("a Last-Event-ID that is no number answers %d", a.status)
		}
	})
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 0 })
}

// TestStreamsOutliveDeadlines runs on a server whose deadlines are for requests that end.
func TestStreamsOutliveDeadlines(t *testing.T) {
	s := signedIn(t, "ada")
	srv := &http.Server{Handler: s.p, ReadTimeout: 2 * time.Second, WriteTimeout: 2 * time.Second}
	ln, err := newListener()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-served })
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.srv.URL = "http://" + ln.Addr().String()
	r := s.follow("/clusters/" + id + "/live")
	r.until("part", "0 of 25")
	polled := make(chan seen, 1)
	poll := s.request("GET", "/api/v1/clusters/"+id+"/events?after=9999&wait=4", "", "Authorization", "Bearer token-of-ada")
	go func() { polled <- s.do(poll) }()
	time.Sleep(4500 * time.Millisecond) // longer than both deadlines
	if a := <-polled; strings.TrimSpace(a.body) != `{"events":[]}` {
		t.Errorf("a long poll answers %d %s", a.status, a.body)
	}
	s.f.advance(id, 4)
	r.until("part", "4 of 25")
}

package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
)

func changes(t *testing.T, e event) (c liveChange) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &c); err != nil {
		t.Fatalf("%v in %q", err, e.data)
	}
	return c
}

func TestLivePage(t *testing.T) {
	s := visit(t)
	s.signIn("root")
	id := s.cluster(ada, "lake", "hadoop", 5)
	s.f.advance(id, 8)
	tenant := app.TenantTopic(app.DefaultTenant)

	r := s.follow("/live?page=%2Fqueue")
	if e := r.until("version", ""); e.data != "1.2.3" {
		t.Errorf("the version is %q", e.data)
	}
	e := r.until("change", "8 of 43")
	if c := changes(t, e); len(c.Parts) != 1 || c.Parts[0][0] != "list" || e.id == "" {
		t.Errorf("it begins with %+v, id %q", c, e.id)
	}
	at := 8
	for try := 0; ; try++ {
		begun := time.Now()
		for range 4 {
			s.f.advance(id, 1)
		}
		at += 4
		r.until("change", fmt.Sprintf("%d of 43", at))
		if d := time.Since(begun); d >= liveGap/2 {
			break
		} else if try == 4 { // a busy host may read of the one before late, once
			t.Fatalf("it is sent again after %v", d)
		}
	}
	known, next := fmt.Sprintf("%d of 43", at), fmt.Sprintf("%d of 43", at+1)

	t.Run("who was away and missed nothing is sent nothing", func(t *testing.T) {
		s.f.broken = nil
		again := s.follow("/live?page=%2Fqueue")
		now := again.until("change", known).id
		again.close()
		back := s.follow("/live?page=%2Fqueue", "Last-Event-ID", now)
		back.until("version", "")
		s.f.advance(id, 1)
		if e, _ := back.next(); e.name != "change" || !strings.Contains(e.data, next) {
			t.Errorf("the first thing that comes is %s %.200s", e.name, e.data)
		}
		back.close()
		missed := s.follow("/live?page=%2Fqueue", "Last-Event-ID", now)
		missed.until("change", next)
		missed.close()
	})
	t.Run("what cannot be followed", func(t *testing.T) {
		for path, want := range map[string]int{
			"/live": http.StatusNotFound, "/live?page=%2Fnone": http.StatusNotFound, "/live?page=https%3A%2F%2Fx%2Fqueue": http.StatusNotFound,
			"/live?page=%2Fqueue%zz": http.StatusNotFound,
		} {
			if a := s.get(path, "Accept", "text/event-stream"); a.status != want {
				t.Errorf("%s answers %d", path, a.status)
			}
		}
		if a := s.get("/live?page=%2Fqueue", "Muster-Part", "probe"); a.status != http.StatusNoContent {
			t.Errorf("a probe answers %d", a.status)
		}
		other := visit(t)
		if a := other.get("/live?page=%2Fqueue", "Muster-Part", "probe"); a.status != http.StatusUnauthorized {
			t.Errorf("a stranger's probe answers %d", a.status)
		}
		other.signIn("ada")
		if a := other.get("/live?page=%2Fqueue", "Accept", "text/event-stream"); a.status != http.StatusForbidden {
			t.Errorf("the queue of others answers %d", a.status)
		}
	})
	r.close()
	eventually(t, func() bool { return s.f.watching(tenant) == 0 })

	t.Run("it ends with the portal", func(t *testing.T) {
		r := s.follow("/live?page=%2Fqueue")
		r.until("change", "")
		_ = s.p.Close()
		if _, ok := r.next(); ok {
			t.Error("a stream continues after the portal has shut down")
		}
		eventually(t, func() bool { return s.f.watching(tenant) == 0 })
	})
}

package slack

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slack-go/slack"

	"muster/app"
)

// turnstile answers every call, and notes when; limit makes it refuse.
type turnstile struct {
	calls []time.Time
	limit map[string]string // Retry-After by method, once
}

func (s *turnstile) RoundTrip(r *http.Request) (*http.Response, error) {
	s.calls = append(s.calls, time.Now())
	w := httptest.NewRecorder()
	method := r.URL.Path[len("/api/"):]
	if after, ok := s.limit[method]; ok {
		delete(s.limit, method)
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(http.StatusTooManyRequests)
		return w.Result(), nil
	}
	_, _ = w.WriteString(`{"ok":true,"channel":"C1","ts":"1.1"}`)
	return w.Result(), nil
}

func TestBudgetOfAWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnstile{}
		b := newBudget(s, time.Now)
		api := slack.New("xoxb-1", slack.OptionHTTPClient(&http.Client{Transport: b}))
		began := time.Now()
		for range 3 * perMinute {
			if _, _, _, err := api.UpdateMessageContext(t.Context(), "C1", "1.1", slack.MsgOptionText("x", false)); err != nil {
				t.Fatal(err)
			}
		}
		most := 0
		for i, at := range s.calls {
			n := 0
			for _, other := range s.calls[i:] {
				if other.Sub(at) < time.Minute {
					n++
				}
			}
			most = max(most, n)
		}
		if most > perMinute+burst || time.Since(began) < 2*time.Minute {
			t.Errorf("%d calls within a minute, all after %s", most, time.Since(began))
		}
		// A waiting person is served before what can wait.
		began = time.Now()
		for range 10 {
			if _, _, err := api.PostMessageContext(urgent(t.Context()), "C1", slack.MsgOptionText("x", false)); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("people wait for %s", d)
		}
		// What would wait for longer than it may ends with what Slack would say.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, _, err := api.UpdateMessageContext(ctx, "C1", "1.1", slack.MsgOptionText("x", false))
		if e := app.AsError(coded(err)); e.Code != app.ERateLimit || e.RetryAfter <= 0 {
			t.Errorf("without a budget: %v", err)
		}
		if h, changed := b.health(); !changed || h.Calls == 0 || h.Calls > perMinute+burst+10 {
			t.Errorf("health: %+v", h)
		}
	})
}

func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnstile{limit: map[string]string{"chat.update": "7", "views.publish": ""}}
		b := newBudget(s, time.Now)
		api := slack.New("xoxb-1", slack.OptionHTTPClient(&http.Client{Transport: b}))
		update := func() time.Duration {
			_, _, _, err := api.UpdateMessageContext(urgent(t.Context()), "C1", "1.1", slack.MsgOptionText("x", false))
			return app.AsError(coded(err)).RetryAfter
		}
		if d := update(); d != 7*time.Second {
			t.Errorf("Slack's own is %s", d)
		}
		time.Sleep(3 * time.Second)
		before := len(s.calls)
		if d := update(); d != 4*time.Second || len(s.calls) != before {
			t.Errorf("before its end: %s, %d calls", d, len(s.calls)-before)
		}
		// Other methods of the workspace still work.
		if _, _, err := api.PostMessageContext(t.Context(), "C1", slack.MsgOptionText("x", false)); err != nil {
			t.Error(err)
		}
		time.Sleep(4 * time.Second)
		if d := update(); d != 0 {
			t.Errorf("after its end: %s", d)
		}
		// Without a time it is a while, and known as that.
		_, err := api.PublishViewContext(t.Context(), slack.PublishViewContextRequest{UserID: "U1"})
		if e := app.AsError(coded(err)); e.Code != app.ERateLimit || e.RetryAfter != 30*time.Second {
			t.Errorf("without a time: %v", err)
		}
		if h, _ := b.health(); h.Error == "" || h.LimitedUntil.Before(time.Now()) {
			t.Errorf("health: %+v", h)
		}
	})
}

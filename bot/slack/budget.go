package slack

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path"
	"strconv"
	"sync"
	"time"

	"muster/app/chat"
	"muster/app/humanize"
)

// How often one workspace is called, all methods together. What a person waits for goes before what can wait: it takes from
// the same budget, and may go below what is left.
const (
	perMinute  = 60
	burst      = 20
	overdraft  = 40
	mostMethod = 100 // methods that are told apart; there are not so many
)

// budget is an http.RoundTripper that keeps the calls of one workspace to what Slack takes: so many a minute, and none of a
// method before Slack's Retry-After is over. It lives as long as the server does.
type budget struct {
	next http.RoundTripper
	now  func() time.Time

	mu      sync.Mutex
	left    float64
	at      time.Time
	blocked map[string]time.Time // by method
	made    []time.Time          // within the last minute
	err     string
	erredAt time.Time
	heardAt time.Time // an event or request of the workspace
	dirty   bool
}

func newBudget(next http.RoundTripper, now func() time.Time) *budget {
	return &budget{next: next, now: now, left: burst, at: now(), blocked: map[string]time.Time{}}
}

type urgentKey struct{}

// urgent marks what a person waits for at this moment.
func urgent(ctx context.Context) context.Context {
	return context.WithValue(ctx, urgentKey{}, true)
}

// take takes one call out of the budget, or says how long to wait; of a method that Slack takes no calls of, with an error.
func (b *budget) take(method string, hurry bool) (wait time.Duration, blocked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if until := b.blocked[method]; now.Before(until) {
		return until.Sub(now), true
	}
	delete(b.blocked, method)
	b.left = min(burst, b.left+now.Sub(b.at).Seconds()*perMinute/60)
	b.at = now
	floor := 1.0
	if hurry {
		floor = 1 - overdraft
	}
	if b.left < floor {
		return time.Duration((floor - b.left) * 60 / perMinute * float64(time.Second)), false
	}
	b.left--
	for len(b.made) > 0 && now.Sub(b.made[0]) >= time.Minute {
		b.made = b.made[1:]
	}
	b.made = append(b.made, now)
	b.dirty = true
	return 0, false
}

// RoundTrip implements http.RoundTripper. A call that has to wait for longer than its context lasts ends with 429, as Slack's
// own would.
func (b *budget) RoundTrip(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	hurry := r.Context().Value(urgentKey{}) != nil
	for {
		wait, blocked := b.take(method, hurry)
		if wait == 0 {
			break
		}
		deadline, limited := r.Context().Deadline()
		if blocked || limited && time.Until(deadline) < wait {
			return tooMany(r, wait), nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-r.Context().Done():
			timer.Stop()
			return nil, r.Context().Err()
		case <-timer.C:
		}
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		b.fail(method + ": Slack can't be reached")
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		b.block(method, resp)
	}
	return resp, nil
}

// block notes that Slack takes no calls of a method for a while, and makes sure that whoever called is told so.
func (b *budget) block(method string, resp *http.Response) {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 30
		resp.Header.Set("Retry-After", strconv.Itoa(seconds))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.blocked) < mostMethod {
		b.blocked[method] = b.now().Add(time.Duration(min(seconds, 3600)) * time.Second)
	}
	b.err, b.erredAt, b.dirty = method+": rate limited for "+humanize.Duration(time.Duration(seconds)*time.Second), b.now(), true
}

func (b *budget) fail(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.erredAt, b.dirty = text, b.now(), true
}

func (b *budget) heard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heardAt, b.dirty = b.now(), true
}

// health returns how the workspace does, and whether that is another thing than the last time.
func (b *budget) health() (h chat.ChatHealth, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for len(b.made) > 0 && now.Sub(b.made[0]) >= time.Minute {
		b.made = b.made[1:]
	}
	h = chat.ChatHealth{EventAt: b.heardAt, Error: b.err, ErrorAt: b.erredAt}
	if len(b.made) > 0 {
		h.Calls, h.CallsAt = len(b.made), now
	}
	for _, until := range b.blocked {
		if until.After(h.LimitedUntil) {
			h.LimitedUntil = until
		}
	}
	changed, b.dirty = b.dirty, false
	return h, changed
}

// tooMany is an answer as Slack returns it, without asking Slack.
func tooMany(r *http.Request, wait time.Duration) *http.Response {
	return &http.Response{StatusCode: http.StatusTooManyRequests, Status: "429 Too Many Requests", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Retry-After": {strconv.Itoa(int((wait + time.Second - 1) / time.Second))}}, Body: io.NopCloser(bytes.NewReader(nil))}
}

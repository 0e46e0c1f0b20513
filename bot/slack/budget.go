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

// Rates of calls per workspace, all methods together. Calls that a person is waiting for share the budget, but may overdraw it.
const (
	perMinute = 60
	burst     = 20
	overdraft = 40
	maxMethod = 100 // distinct methods; there are fewer
)

// budget is an http.RoundTripper that keeps a workspace's calls within Slack's limits: a number per minute, and none of a method before
// Slack's Retry-After. It lives as long as the server.
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

// urgent marks a call that a person is waiting for.
func urgent(ctx context.Context) context.Context {
	return context.WithValue(ctx, urgentKey{}, true)
}

// take takes one call from the budget, or returns how long to wait, with an error if Slack blocks the method.
func (b *budget) take(method string, isUrgent bool) (wait time.Duration, blocked bool) {
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
	if isUrgent {
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

// RoundTrip answers a call that would have to wait beyond its context's deadline with 429, as Slack would.
func (b *budget) RoundTrip(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	isUrgent := r.Context().Value(urgentKey{}) != nil
	for {
		wait, blocked := b.take(method, isUrgent)
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

// block records that Slack rate limits a method, and makes sure that the response has Retry-After.
func (b *budget) block(method string, resp *http.Response) {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 30
		resp.Header.Set("Retry-After", strconv.Itoa(seconds))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.blocked) < maxMethod {
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

// health returns the workspace's state, and whether it changed since the last call.
func (b *budget) health() (h chat.Health, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for len(b.made) > 0 && now.Sub(b.made[0]) >= time.Minute {
		b.made = b.made[1:]
	}
	h = chat.Health{EventAt: b.heardAt, Error: b.err, ErrorAt: b.erredAt}
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

// tooMany is a 429 response like Slack's.
func tooMany(r *http.Request, wait time.Duration) *http.Response {
	return &http.Response{StatusCode: http.StatusTooManyRequests, Status: "429 Too Many Requests", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Retry-After": {strconv.Itoa(int((wait + time.Second - 1) / time.Second))}}, Body: io.NopCloser(bytes.NewReader(nil))}
}

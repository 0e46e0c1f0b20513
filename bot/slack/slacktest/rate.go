package slacktest

import (
	"math"
	"time"
)

// rates keeps the app to how often Slack takes calls, and has calls fail.
type rates struct {
	*core
	faults  map[string][]Fault
	blocked map[string]time.Time   // until when a method may not be called in a workspace
	windows map[string][]time.Time // when a method was called in a workspace within a minute
	budgets map[string]budget      // of channels
}

func newRates(k *core) *rates {
	return &rates{core: k, faults: map[string][]Fault{}, blocked: map[string]time.Time{}, windows: map[string][]time.Time{}, budgets: map[string]budget{}}
}

// Fault is something that goes wrong with one call of the API.
type Fault struct {
	RetryAfter time.Duration // 429: no call of the method is taken for that long
	Status     int           // of HTTP, such as 500
	Error      string        // Slack's word
	Lose       bool          // what was asked for is done, and the answer is lost
}

// Fail has the next calls of a method end in these ways, one each.
func (s *rates) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// budget is what a channel still takes.
type budget struct {
	left float64
	at   time.Time
}

// limited tells for how long a call is to wait, 0 for not at all, and whether the app should have known. The lock is held.
func (s *rates) limited(c *call, perMinute int) (wait time.Duration) {
	now, key := s.now(), c.method+" "+c.key()
	if until := s.blocked[key]; now.Before(until) {
		s.violate("retry_after", c.method, "called %s before the end of Retry-After", until.Sub(now))
		return until.Sub(now)
	}
	w := s.windows[key]
	for len(w) > 0 && now.Sub(w[0]) >= time.Minute {
		w = w[1:]
	}
	if len(w) >= perMinute {
		s.violate("rate", c.method, "%d calls in a minute, at most %d", len(w)+1, perMinute)
		wait = time.Minute - now.Sub(w[0])
		s.blocked[key] = now.Add(wait)
		return wait
	}
	s.windows[key] = append(w, now)
	return 0
}

// crowded reports whether a channel takes no message now: one a second, and a few more at once. The lock is held.
func (s *rates) crowded(c *call, channel *Channel) bool {
	now := s.now()
	b, known := s.budgets[channel.ID]
	if !known {
		b = budget{left: channelBurst, at: now}
	}
	b.left, b.at = math.Min(channelBurst, b.left+now.Sub(b.at).Seconds()), now
	full := b.left < 1
	if full {
		s.violate("rate.channel", c.method, "more than one message a second, and %d at once, to #%s", channelBurst, channel.Name)
		s.blocked[c.method+" "+c.key()] = now.Add(time.Second)
	} else {
		b.left--
	}
	s.budgets[channel.ID] = b
	return full
}

// Calm waits until no Retry-After holds: an app that is started again does not know of any.
func (s *rates) Calm() {
	s.t.Helper()
	s.Wait("a Retry-After does not end", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, until := range s.blocked {
			if s.now().Before(until) {
				return false
			}
		}
		return true
	})
}

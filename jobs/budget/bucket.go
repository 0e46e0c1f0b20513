package budget

import (
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"muster/app/template"
	"muster/jobs/internal/loop"
)

// A token bucket is kept as one moment, due: the one at which the bucket will be full again. A call moves it by the spacing
// of calls; calls have their turn as long as it is not further away than the slack, which is the rest of the burst. (This is
// the generic cell rate algorithm.) Over any time t from when it was empty it lets through at most rate*t calls, and
// rate*t+burst from when it was full.

// spacing is how long one call takes to be made good for, slack how far due may lie ahead of a call.
func spacing(r template.Rate) time.Duration { return time.Duration(float64(time.Second) / r.PerSecond) }
func slack(r template.Rate) time.Duration   { return spacing(r) * time.Duration(max(r.Burst, 1)-1) }

// bucketArgs are spacing, slack and one more duration, in microseconds, then how long to keep the bucket, in
// milliseconds.
func bucketArgs(r template.Rate, d time.Duration) []any {
	return []any{max(spacing(r).Microseconds(), 1), slack(r).Microseconds(), d.Microseconds(), (budgetKept + loop.LongestAsked).Milliseconds()}
}

// All scripts go by Redis's own clock, the only one that everyone shares. Numbers are written with %.0f: Lua would round
// them to 14 digits. A due moment further away than any of our own doing comes from a clock that was set back.
const bucketRead = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kept = redis.call('HMGET', KEYS[1], 'due', 'queue', 'slack')
local due, queue = tonumber(kept[1]), tonumber(kept[2]) or 0
`

// takeScript returns {1, wait} where the call has its turn within the wait that it bears, and then the turn is taken; or {0,
// wait}, where wait is a place behind those who were turned away before, one for each spacing.
var takeScript = redis.NewScript(bucketRead + `
local spacing, slack, bears, keep = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local empty = now + slack + spacing
local far = 1000 * keep
if not due or due > empty + far then due = empty end
if ARGV[5] and due < empty then due = empty end
if queue > now + far then queue = 0 end
local wait = math.max(due - slack - now, 0)
local answer
if wait <= bears then
	due = math.max(due, now) + spacing
	answer = {1, wait}
else
	queue = math.max(queue, now + wait)
	answer = {0, math.min(queue - now, 900000000)}
	queue = queue + spacing
end
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due), 'queue', string.format('%.0f', queue), 'slack', string.format('%.0f', slack))
redis.call('PEXPIRE', KEYS[1], keep)
return answer
`)

// exhaustScript lets the next call have its turn only after a time.
var exhaustScript = redis.NewScript(bucketRead + `
local slack, until_, keep = tonumber(ARGV[2]), now + tonumber(ARGV[3]), tonumber(ARGV[4])
due = math.max(due or 0, until_ + slack)
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due), 'queue', string.format('%.0f', math.max(queue, until_)), 'slack', string.format('%.0f', slack))
redis.call('PEXPIRE', KEYS[1], keep)
return 1
`)

// lookScript tells how long the next call would have to wait, behind those who were turned away.
var lookScript = redis.NewScript(bucketRead + `
local slack = tonumber(kept[3]) or 0
if not due then return 0 end
return math.max(due - slack - now, queue - now, 0)
`)

// bucket is the same within one process.
type bucket struct {
	mu    sync.Mutex
	due   time.Time
	queue time.Time
	until time.Time // the cloud wants to be left alone; for accounts without a rate
}

func (b *bucket) take(now time.Time, r template.Rate, bears time.Duration) (granted bool, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.Limited() {
		wait = max(b.until.Sub(now), 0)
		return wait <= bears, wait
	}
	wait = max(b.due.Add(-slack(r)).Sub(now), 0)
	if wait <= bears {
		b.due = later(b.due, now).Add(spacing(r))
		return true, wait
	}
	b.queue = later(b.queue, now.Add(wait))
	wait = min(b.queue.Sub(now), loop.LongestAsked)
	b.queue = b.queue.Add(spacing(r))
	return false, wait
}

func (b *bucket) exhaust(now time.Time, r template.Rate, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until = later(b.until, now.Add(d))
	if r.Limited() {
		b.due, b.queue = later(b.due, now.Add(d+slack(r))), later(b.queue, now.Add(d))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

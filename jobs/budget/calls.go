package budget

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"muster/app"
	"muster/app/fleet"
	"muster/app/template"
	"muster/jobs/queue"
)

const (
	callsKept  = 25 * time.Hour
	callsEvery = 2 * time.Second // how often a process shares its calls at most
	maxError   = 500             // letters of an error that are kept
)

// pendingCalls are the calls to an account not shared yet.
type pendingCalls struct {
	counts  map[app.Code]int
	last    time.Time
	failure *app.Error
	failed  time.Time
}

// callCounts counts calls in this process, and adds them to those of the others in Redis now and then. It is for people to look at: what
// is lost with Redis or with the process is not missed.
type callCounts struct {
	mu      sync.Mutex
	pending map[string]*pendingCalls
	timer   *time.Timer
}

// CallEnded implements providers.Listener: a call to an account has ended, with nil or an error that has a code.
func (b *Budget) CallEnded(account string, err error) {
	if b.client == nil {
		return
	}
	c := &b.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[account]
	if p == nil {
		p = &pendingCalls{counts: map[app.Code]int{}}
		if c.pending == nil {
			c.pending = map[string]*pendingCalls{}
		}
		c.pending[account] = p
	}
	p.last = time.Now()
	code := app.Code("")
	if err != nil {
		p.failure, p.failed = app.AsError(err), p.last
		code = p.failure.Code
	}
	p.counts[code]++
	if c.timer == nil {
		c.timer = time.AfterFunc(callsEvery, b.publishCalls)
	}
}

// publishCalls adds what was counted to what Redis has.
func (b *Budget) publishCalls() {
	b.calls.mu.Lock()
	all := b.calls.pending
	b.calls.pending, b.calls.timer = nil, nil
	b.calls.mu.Unlock()
	if !b.asks() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), queue.AnswerTime)
	defer cancel()
	_, err := b.client.Pipelined(ctx, func(to redis.Pipeliner) error {
		for account, p := range all {
			hour, last := b.hourKey(account, p.last), b.prefix+"last:"+account
			for code, n := range p.counts {
				to.HIncrBy(ctx, hour, string(code), int64(n))
			}
			to.Expire(ctx, hour, callsKept)
			to.HSet(ctx, last, "at", p.last.UnixMicro())
			if p.failure != nil {
				to.HSet(ctx, last, "error", firstLetters(p.failure.Message, maxError), "code", string(p.failure.Code), "error_at", p.failed.UnixMicro())
			}
			to.Expire(ctx, last, callsKept)
		}
		return nil
	})
	if err != nil {
		b.log.Debug("could not count account calls", "error", err)
	}
}

func firstLetters(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// hourKey is where the calls of an hour are counted.
func (b *Budget) hourKey(account string, at time.Time) string {
	return b.prefix + "calls:" + strconv.FormatInt(at.Unix()/3600, 10) + ":" + account
}

// AccountCalls implements fleet.CallBook. The last hour is the one of the clock and the part of the one before that makes it whole.
func (b *Budget) AccountCalls(ctx context.Context, account string, rate template.Rate) (c fleet.AccountCalls, err error) {
	away := func(err error) error {
		return &app.Error{Code: app.ETransient, Message: "Redis isn't responding.", Err: err}
	}
	if b.client == nil || !b.asks() {
		return c, away(nil)
	}
	ctx, cancel := context.WithTimeout(ctx, queue.AnswerTime)
	defer cancel()
	now := time.Now()
	hours := make([]*redis.MapStringStringCmd, 24)
	var last *redis.MapStringStringCmd
	if _, err := b.client.Pipelined(ctx, func(from redis.Pipeliner) error {
		for i := range hours {
			hours[i] = from.HGetAll(ctx, b.hourKey(account, now.Add(-time.Duration(i)*time.Hour)))
		}
		last = from.HGetAll(ctx, b.prefix+"last:"+account)
		return nil
	}); err != nil {
		return c, away(err)
	}
	c.Hour, c.Day = map[app.Code]int{}, map[app.Code]int{}
	part := 1 - float64(now.Unix()%3600)/3600 // of the hour before
	for i, h := range hours {
		for code, text := range h.Val() {
			n, _ := strconv.Atoi(text)
			c.Day[app.Code(code)] += n
			switch {
			case i == 0:
				c.Hour[app.Code(code)] += n
			case i == 1 && int(part*float64(n)+0.5) > 0:
				c.Hour[app.Code(code)] += int(part*float64(n) + 0.5)
			}
		}
	}
	moment := func(name string) time.Time {
		if us, err := strconv.ParseInt(last.Val()[name], 10, 64); err == nil {
			return time.UnixMicro(us).UTC()
		}
		return time.Time{}
	}
	c.LastAt, c.ErrorAt, c.LastError, c.ErrorCode = moment("at"), moment("error_at"), last.Val()["error"], app.Code(last.Val()["code"])
	if !rate.Limited() {
		return c, nil
	}
	us, err := leftScript.Run(ctx, b.client, []string{b.prefix + account}).Int64Slice()
	if err != nil || len(us) != 2 {
		return c, away(err)
	}
	// What is due beyond now is what was used of the bucket.
	c.Remaining = max(0, float64(max(rate.Burst, 1))-float64(us[0])/1e6*rate.PerSecond)
	c.Throttled = time.Duration(us[1]) * time.Microsecond
	return c, nil
}

// leftScript tells how far due lies ahead, and how long the next call would have to wait.
var leftScript = redis.NewScript(bucketRead + `
local slack = tonumber(kept[3]) or 0
if not due then return {0, 0} end
return {math.max(due - now, 0), math.max(due - slack - now, queue - now, 0)}
`)

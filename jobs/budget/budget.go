package budget

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/observe"
	"muster/app/template"
	"muster/jobs/internal/loop"
	"muster/jobs/queue"
)

// Budget shares the calls that a provider account takes among all workers and servers of an installation: a token bucket
// for each account in Redis, kept as the time at which the next call is due. A bucket that is new, or that was lost with
// Redis, begins empty, so that no one can ask more often than allowed by losing it. While Redis is away, each process has a
// bucket of its own with a cautious share.
type Budget struct {
	client   redis.UniversalClient
	prefix   string
	log      *slog.Logger
	patience time.Duration // how long a call waits for its turn

	mu      sync.Mutex
	own     map[string]*bucket // by account, for while Redis is away
	away    time.Time          // Redis is not asked again before
	trouble loop.Trouble
	calls   callCounts

	Meter observe.Meter // nil: no one counts; set before the first call
}

var (
	_ execution.Budgets = (*Budget)(nil)
	_ fleet.CallBook    = (*Budget)(nil)
)

const (
	// budgetPatience is how long a call waits for its turn; a longer wait is for the ledger, where it holds no slot.
	budgetPatience = 2 * time.Second
	// budgetShare is the part of an account's rate that a process takes while it cannot ask the others: there may be several.
	budgetShare = 0.25
	// budgetAway is how long Redis is left alone after it did not answer.
	budgetAway = 3 * time.Second
	// budgetKept is how long an idle bucket is kept.
	budgetKept = 24 * time.Hour
)

// New returns the budget that is kept in the queue's Redis; without a queue (nil) the process keeps to its part of each rate
// by itself. It needs no closing.
func New(q *queue.Queue, log *slog.Logger) *Budget {
	if q == nil {
		return &Budget{log: log, patience: budgetPatience, own: map[string]*bucket{}}
	}
	client, prefix := q.Redis()
	return &Budget{client: client, prefix: prefix + "budget:", log: log, patience: budgetPatience,
		own: map[string]*bucket{}}
}

// Take waits for the account's turn, for up to two seconds. Where it is further away, it returns ERateLimit with the reason
// "budget" and RetryAfter, spread so that those who wait come back one after the other.
func (b *Budget) Take(ctx context.Context, account string, rate template.Rate) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !rate.Limited() {
		return b.takeOwn(ctx, account, rate) // nothing but a cloud's own refusal holds it up
	}
	if b.asks() {
		granted, wait, err := b.takeShared(ctx, account, rate)
		if b.answered(err) {
			return b.grant(ctx, account, granted, wait)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return b.takeOwn(ctx, account, cautious(rate))
}

func (b *Budget) takeOwn(ctx context.Context, account string, rate template.Rate) error {
	granted, wait := b.bucket(account, rate).take(time.Now(), rate, b.patience)
	return b.grant(ctx, account, granted, wait)
}

func (b *Budget) grant(ctx context.Context, account string, granted bool, wait time.Duration) error {
	if !granted {
		observe.MeterOf(b.Meter).Add(observe.MetricThrottled, 1, Metered(account), "budget")
		return &app.Error{Code: app.ERateLimit, Reason: Reason, RetryAfter: wait,
			Message: fmt.Sprintf("Account %s has reached its rate limit; retry in %s.", account, humanize.Duration(roundUp(wait)))}
	}
	if wait <= 0 {
		return nil
	}
	began := time.Now()
	err := loop.Pause(ctx, wait)
	observe.MeterOf(b.Meter).ObserveDuration(observe.MetricBudgetWait, time.Since(began), Metered(account))
	return err
}

// Reason says that our own rate budget for the account was empty: nothing was asked.
const Reason = "budget"

// Metered is an account as metrics name it; tenants' accounts of one name share it.
func Metered(account string) string {
	if _, name, of := strings.Cut(account, "/"); of {
		return name
	}
	return account
}

// roundUp returns d in whole seconds, never less than d.
func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// Exhausted empties the account's bucket for everyone until the cloud wants to be asked again, but for a quarter of an
// hour at most.
func (b *Budget) Exhausted(ctx context.Context, account string, rate template.Rate, d time.Duration) {
	d = min(d, loop.LongestAsked)
	b.bucket(account, cautious(rate)).exhaust(time.Now(), cautious(rate), d)
	if !rate.Limited() || !b.asks() {
		return
	}
	b.answered(exhaustScript.Run(ctx, b.client, []string{b.prefix + account}, bucketArgs(rate, d)...).Err())
}

// BudgetWait implements execution.Budgets: for how long calls are turned away; 0 where they only wait a moment. It is
// ETransient while Redis is away.
func (b *Budget) BudgetWait(ctx context.Context, account string) (time.Duration, error) {
	if b.client == nil {
		return 0, &app.Error{Code: app.ETransient, Message: "Redis isn't configured"}
	}
	us, err := lookScript.Run(ctx, b.client, []string{b.prefix + account}).Int64()
	if err != nil {
		return 0, &app.Error{Code: app.ETransient, Message: "Redis isn't responding", Err: err}
	}
	wait := time.Duration(us) * time.Microsecond
	if wait <= b.patience {
		return 0, nil
	}
	return wait, nil
}

// asks reports whether Redis is worth asking now.
func (b *Budget) asks() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.client != nil && !time.Now().Before(b.away)
}

// answered takes note of whether Redis did.
func (b *Budget) answered(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble.Say(b.log, "Sharing rate limits across servers", err)
	if err == nil {
		b.away = time.Time{}
		return true
	}
	b.away = time.Now().Add(budgetAway)
	return false
}

// takeShared asks Redis. The first time after it was away the bucket is emptied: what was used up meanwhile is not known.
func (b *Budget) takeShared(ctx context.Context, account string, rate template.Rate) (granted bool, wait time.Duration, err error) {
	b.mu.Lock()
	wasAway := !b.away.IsZero()
	b.mu.Unlock()
	args := bucketArgs(rate, b.patience)
	if wasAway {
		args = append(args, 1)
	}
	ctx, cancel := context.WithTimeout(ctx, queue.AnswerTime)
	defer cancel()
	out, err := takeScript.Run(ctx, b.client, []string{b.prefix + account}, args...).Int64Slice()
	if err != nil || len(out) != 2 {
		return false, 0, fmt.Errorf("rate limit of %s: %w", account, err)
	}
	return out[0] == 1, time.Duration(out[1]) * time.Microsecond, nil
}

func cautious(r template.Rate) template.Rate {
	if !r.Limited() {
		return r
	}
	return template.Rate{PerSecond: r.PerSecond * budgetShare, Burst: max(1, int(float64(r.Burst)*budgetShare))}
}

func (b *Budget) bucket(account string, rate template.Rate) *bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.own[account]
	if own == nil {
		own = &bucket{}
		if rate.Limited() {
			own.due = time.Now().Add(spacing(rate) + slack(rate)) // empty
		}
		b.own[account] = own
	}
	return own
}

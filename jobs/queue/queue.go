package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"muster/app"
	"muster/app/execution"
	"muster/app/identity"
)

// taskStep is asynq's name for a wake-up.
const taskStep = "step"

// taskTimeout is how long asynq lets one wake-up be served: a worker goes from step to step on it, and each step has its own
// limit. Without it asynq would cut in after 30 minutes.
const taskTimeout = 7 * 24 * time.Hour

// Queue is the connection to Redis.
type Queue struct {
	client       redis.UniversalClient
	tasks        *asynq.Client
	installation string
	mark         string // what the mark in Redis must read; "" until set
}

// Open connects to the Redis at url (redis://, rediss://, unix://). The installation keeps several of them apart
// on one Redis. Redis need not answer yet. Close it.
func Open(url, installation string) (*Queue, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, &app.Error{Code: app.EInvalid, Field: "REDIS_URL", Message: "REDIS_URL isn't a valid Redis address: " + hideURL(err, url),
			Hint: "Use the form redis://user:password@host:6379/0."}
	}
	patient(o)
	client := redis.NewClient(o)
	return &Queue{client: client, tasks: asynq.NewClientFromRedisClient(client), installation: installation}, nil
}

// AnswerTime is how long Redis may take for one answer. Nothing is lost when it takes longer, and no one else should wait.
const AnswerTime = 2 * time.Second

// patient bounds the time that a Redis which is away or hangs can cost, unless the address says otherwise.
func patient(o *redis.Options) {
	o.ContextTimeoutEnabled = true
	for _, d := range []*time.Duration{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout} {
		if *d == 0 {
			*d = AnswerTime
		}
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = 1
	}
}

// hideURL keeps a password in an address out of messages.
func hideURL(err error, url string) string {
	if text := err.Error(); url == "" || len(text) < len(url) {
		return text
	}
	return "it can't be parsed"
}

// Redis returns the connection, for what else servers of an installation share, and how keys of the installation begin.
func (q *Queue) Redis() (client redis.UniversalClient, prefix string) {
	return q.client, "muster:" + q.installation + ":"
}

// Close lets go of the connection.
func (q *Queue) Close() error { return q.client.Close() }

// Ping reports whether Redis answers.
func (q *Queue) Ping(ctx context.Context) error {
	if err := q.client.Ping(ctx).Err(); err != nil {
		return &app.Error{Code: app.ETransient, Message: "Redis isn't responding", Err: err}
	}
	return nil
}

func (q *Queue) name(tenant string) string { return "muster:" + q.installation + ":" + tenant }

// enqueue puts a wake-up in its tenant's queue. An error is ETransient.
func (q *Queue) enqueue(ctx context.Context, b execution.OutboxEntry) error {
	payload, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("jobs: queue message: %w", err)
	}
	_, err = q.tasks.EnqueueContext(ctx, asynq.NewTask(taskStep, payload), asynq.Queue(q.name(b.Tenant)), asynq.MaxRetry(0), asynq.Timeout(taskTimeout))
	if err != nil {
		return &app.Error{Code: app.ETransient, Message: "Redis rejected the announcement of a step", Err: err}
	}
	return nil
}

// Waiting counts the wake-ups of a tenant that no worker has received yet.
func (q *Queue) Waiting(ctx context.Context, tenant string) (int, error) {
	n, err := q.client.LLen(ctx, "asynq:{"+q.name(tenant)+"}:pending").Result() // asynq's own name for the list
	if err != nil {
		return 0, &app.Error{Code: app.ETransient, Message: "Redis isn't responding", Err: err}
	}
	return int(n), nil
}

// Lost tells, once, that what was in Redis is gone: it was flushed, restarted empty, or replaced. The first call after
// opening tells so too, since no one knows what happened before.
func (q *Queue) Lost(ctx context.Context) (bool, error) {
	key := "muster:" + q.installation + ":mark"
	got, err := q.client.Get(ctx, key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, &app.Error{Code: app.ETransient, Message: "Redis isn't responding", Err: err}
	}
	if q.mark != "" && got == q.mark {
		return false, nil
	}
	if got == "" {
		got = identity.NewToken()
		ok, err := q.client.SetNX(ctx, key, got, 0).Result()
		if err != nil {
			return false, &app.Error{Code: app.ETransient, Message: "Redis isn't responding", Err: err}
		}
		if !ok { // another server was faster; its mark is read the next time
			return true, nil
		}
	}
	q.mark = got
	return true, nil
}

// checkEvery is how often an idle worker looks into its queue. asynq's default of a second would make half a second of
// every wait.
const checkEvery = 20 * time.Millisecond

// stopTime is how long asynq may take to stop listening.
const stopTime = time.Second

// Listener receives a tenant's wake-ups.
type Listener struct{ server *asynq.Server }

// Listen calls heard for each wake-up of a tenant, for at most so many at a time. Stop it, and close it once no one is needed any more.
func (q *Queue) Listen(ctx context.Context, tenant string, atOnce int, log *slog.Logger, heard func()) (*Listener, error) {
	l := &Listener{asynq.NewServerFromRedisClient(q.client, asynq.Config{
		Concurrency: atOnce, Queues: map[string]int{q.name(tenant): 1}, TaskCheckInterval: checkEvery,
		Logger: &asynqLog{log: log}, LogLevel: asynq.InfoLevel, ShutdownTimeout: stopTime,
		BaseContext: func() context.Context { return ctx },
	})}
	// asynq gets no error, since it is not to try again.
	return l, l.server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { heard(); return nil }))
}

// Stop ends the wait for wake-ups. A Redis that hangs keeps no one.
func (l *Listener) Stop() {
	stopped := make(chan struct{})
	go func() { defer close(stopped); l.server.Stop() }()
	select {
	case <-stopped:
	case <-time.After(stopTime):
	}
}

// Close lets go of what asynq holds.
func (l *Listener) Close() { l.server.Shutdown() }

// asynqEvery is how often an error of asynq's comes through.
const asynqEvery = time.Minute

// asynqLog passes what asynq says on to slog, one level lower: what matters to people is said by us. Of its errors one a
// minute comes through: while Redis is away there are several a second.
type asynqLog struct {
	log  *slog.Logger
	last atomic.Int64 // when an error was passed on, in Unix seconds
}

func (l *asynqLog) Debug(...any)      {}
func (l *asynqLog) Info(args ...any)  { l.log.Debug(fmt.Sprint(args...), "from", "asynq") }
func (l *asynqLog) Warn(args ...any)  { l.log.Debug(fmt.Sprint(args...), "from", "asynq") }
func (l *asynqLog) Fatal(args ...any) { l.log.Error(fmt.Sprint(args...), "from", "asynq") }

func (l *asynqLog) Error(args ...any) {
	level, last, now := slog.LevelDebug, l.last.Load(), time.Now().Unix()
	if now-last >= int64(asynqEvery/time.Second) && l.last.CompareAndSwap(last, now) {
		level = slog.LevelWarn
	}
	l.log.Log(context.Background(), level, fmt.Sprint(args...), "from", "asynq")
}

package queue

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/app"
)

// RedisInfo are how a Redis is. What it does not tell is empty.
type RedisInfo struct {
	Version   string
	Major     int
	Policy    string // what it does when memory is short
	MaxMemory int64  // bytes; 0: no limit
	Used      int64
	AOF       bool // it keeps a log of all writes
	Replica   bool
	Latency   time.Duration // of the middle one of some answers
	Skew      time.Duration // how far our clock is ahead of its
}

// pings is how many answers are timed.
const pings = 5

// InspectRedis asks a Redis how it is, and changes nothing. EInvalid for an address that is none, ETransient where it does not answer.
func InspectRedis(ctx context.Context, url string) (f RedisInfo, err error) {
	q, err := Open(url, "")
	if err != nil {
		return f, err
	}
	defer q.Close()
	if err := q.Ping(ctx); err != nil {
		return f, err
	}
	var took []time.Duration
	for range pings {
		begun := time.Now()
		if err := q.Ping(ctx); err != nil {
			return f, err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	f.Latency = took[len(took)/2]
	begun := time.Now()
	if at, err := q.client.Time(ctx).Result(); err == nil {
		f.Skew = begun.Add(time.Since(begun) / 2).Sub(at)
	}
	text, err := q.client.Info(ctx).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return f, &app.Error{Code: app.ETransient, Message: "Redis doesn't report its status", Err: err}
	}
	f.read(text)
	return f, nil
}

// read takes what counts out of the answer to INFO.
func (f *RedisInfo) read(text string) {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			said[name] = value
		}
	}
	number := func(name string) int64 { n, _ := strconv.ParseInt(said[name], 10, 64); return n }
	f.Version, f.Policy = said["redis_version"], said["maxmemory_policy"]
	major, _, _ := strings.Cut(f.Version, ".")
	f.Major, _ = strconv.Atoi(major)
	f.MaxMemory, f.Used = number("maxmemory"), number("used_memory")
	f.AOF, f.Replica = said["aof_enabled"] == "1", said["role"] == "slave"
}

package loop

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"muster/app"
)

// Pause waits for d, or until ctx ends; then its error is ctx's.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// longestWait bounds every back-off of ours, longestAsked those that the other side asks for.
const (
	LongestWait  = time.Minute
	LongestAsked = 15 * time.Minute
)

// BackOff doubles from first with each try, with up to a quarter of jitter so that many do not come back at once.
func BackOff(first time.Duration, tries int) time.Duration {
	d := min(first<<min(max(tries, 1)-1, 10), LongestWait)
	return d + rand.N(d/4+1)
}

// Trouble says that there is trouble when it begins, when it becomes trouble of another kind, and every remindEvery while it lasts, not twice a
// second, and says when it is over. The kind is the error's code and reason: its text may name another port each time.
type Trouble struct {
	said map[string]map[string]time.Time
}

const remindEvery = time.Hour

func (q *Trouble) Say(log *slog.Logger, what string, err error) {
	if err == nil {
		if q.said[what] != nil {
			log.Info(what + " works again")
			delete(q.said, what)
		}
		return
	}
	e := app.AsError(err)
	kind := string(e.Code) + " " + e.Reason
	if last, known := q.said[what][kind]; known && time.Since(last) < remindEvery {
		return
	}
	log.Warn(what+" failed", "error", err)
	if q.said == nil {
		q.said = map[string]map[string]time.Time{}
	}
	if q.said[what] == nil {
		q.said[what] = map[string]time.Time{}
	}
	q.said[what][kind] = time.Now()
}

// Safely turns a panic of a member into an error of its step.
func Safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

// Signal signals the listener, unless there is one already.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

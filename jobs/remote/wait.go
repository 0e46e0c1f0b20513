package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"muster/app"
	"muster/app/humanize"
)

const (
	waitFirst = 50 * time.Millisecond
	maxWait   = 2 * time.Second
	// A packet to a machine that is not up yet is lost, and the system sends it again only after 1, 3, 7 and 15 seconds. So a machine that comes
	// up meanwhile is noticed sooner by trying again than by waiting; each try may take longer, for machines that are far away.
	connectFirst = time.Second
	authGrace    = 30 * time.Second // some clouds put the key in place after the machine answers
)

type progressKey struct{}

// Telling has Wait and WaitAny report each failed login, counted from 1, while they wait.
func Telling(ctx context.Context, report func(try int, err error)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// tell tells of a try that failed, where anyone wants to know.
func tell(ctx context.Context, try int, err error) {
	if report, ok := ctx.Value(progressKey{}).(func(int, error)); ok {
		report(try, err)
	}
}

// nextPause is the pause after one so long.
func nextPause(d time.Duration) time.Duration { return min(d*3/2, maxWait) }

// patient returns a try of that number longer to connect than those before it.
func patient(set settings, try int) settings {
	set.connect = min(connectFirst<<min(try-1, 10), set.dialLimit)
	return set
}

// Wait dials until the machine lets us in or ctx ends, first every 50 ms, then ever more seldom, down to every two
// seconds. A refused key is asked again for 30 seconds, a wrong host key not at all. When ctx ends the error is ETimeout or
// ECancelled and says what the last failure was.
func Wait(ctx context.Context, t Target) (*Conn, error) {
	return wait(ctx, t, defaults())
}

// isOver reports whether ctx has ended. A dial that is cut off by its deadline may return a moment before that: what it says is then of no
// interest, and ctx is waited for.
func isOver(ctx context.Context) bool {
	if d, ok := ctx.Deadline(); ok && !time.Now().Before(d) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

func wait(ctx context.Context, t Target, set settings) (*Conn, error) {
	began := time.Now()
	var refused time.Time // since when the key has been refused without a break
	var last error
	for pause, try := waitFirst, 1; ; pause, try = nextPause(pause), try+1 {
		c, err := dial(ctx, t, patient(set, try))
		if err == nil {
			return c, nil
		}
		if isOver(ctx) {
			return nil, waited(ctx, t, began, last)
		}
		last = err
		tell(ctx, try, err)
		e := app.AsError(err)
		switch {
		case e.Code == app.ETransient:
			refused = time.Time{}
		case e.Code == app.ECredentials && e.Reason == "auth_refused":
			if refused.IsZero() {
				refused = time.Now()
			}
			if time.Since(refused) >= set.authGrace {
				return nil, err
			}
		default:
			return nil, err
		}
		// A quarter more or less, so that a hundred waiting workers do not knock at the same moment.
		timer := time.NewTimer(time.Duration(float64(pause) * (0.75 + rand.Float64()/2)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, waited(ctx, t, began, last)
		}
	}
}

// waited says what was waited for, how long, and the last failure.
func waited(ctx context.Context, t Target, began time.Time, last error) error {
	e := ended(ctx, fmt.Sprintf("waiting for SSH on %s (%s so far)", t, humanize.Duration(time.Since(began))))
	if last != nil {
		e.Message += "; last error: " + last.Error()
	}
	return e
}

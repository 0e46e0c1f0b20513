package jobs

import (
	"math/rand/v2"
	"time"

	"muster/app"
)

// retry alone decides what becomes of a failed attempt: again (after a while) or never. tries counts the attempts since
// the operation was last resumed, the failed one included.
func retry(e *app.Error, tries int) app.Retry {
	limit, first := 0, time.Second
	switch e.Code {
	case app.ETransient, app.ETimeout:
		limit = 5
	case app.ERateLimit:
		limit, first = 10, 5*time.Second
	case app.ECapacity:
		limit, first = 5, 10*time.Second
	case app.EScript: // Coopr tried everything three times
		limit, first = 3, 2*time.Second
	case app.EInternal:
		limit = 3
	case app.ECredentials, app.EHostKey, app.EQuota, app.EInvalid, app.ENotFound, app.ECancelled:
		// asking again cannot help
	}
	if tries >= limit {
		return app.Retry{}
	}
	return app.Retry{Again: true, After: max(min(e.RetryAfter, longestAsked), backOff(first, tries))}
}

// longestWait bounds every back-off of ours, longestAsked those that the other side asks for.
const (
	longestWait  = time.Minute
	longestAsked = 15 * time.Minute
)

// backOff doubles from first with each try, with up to a quarter of jitter so that many do not come back at once.
func backOff(first time.Duration, tries int) time.Duration {
	d := min(first<<min(tries-1, 10), longestWait)
	return d + rand.N(d/4+1)
}

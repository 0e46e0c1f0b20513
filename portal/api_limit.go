package portal

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"muster/app"
)

// How long a window of the API's rate limit is, and after what time somebody beyond it may ask again: the window slides, so there is room
// long before all of it has passed.
const (
	rateWindow = time.Minute
	rateAgain  = 5 * time.Second
)

// newLimiter bounds the requests of one user in a minute; nil: no bound. Each server counts for itself.
func newLimiter(perMinute int) *httprate.RateLimiter {
	if perMinute <= 0 {
		return nil
	}
	return httprate.NewRateLimiter(perMinute, rateWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{
		Limit: "RateLimit-Limit", Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"}))
}

// tooOften counts a request, says in its answer's headers how many more there may be, and refuses one that is too many.
func (p *Portal) tooOften(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.limiter == nil || !p.limiter.OnLimit(w, r, a.Tenant+"/"+a.Name()) {
		return nil
	}
	return &app.Error{Code: app.ERateLimit, Reason: "api_rate", RetryAfter: rateAgain,
		Message: fmt.Sprintf("You have sent %d requests within a minute, which is the limit.", p.perMinute),
		Hint:    "Wait for what Retry-After says; to follow a cluster, read its event stream instead of asking again and again."}
}

// strangerTooOften is tooOften for those of whom the address is all that is known, where they have something kept.
func (p *Portal) strangerTooOften(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet {
		return nil
	}
	return p.tooOften(w, r, app.Actor{User: "\x00address " + neighbourhood(address(r))})
}

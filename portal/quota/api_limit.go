package quota

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/httprate"
	"muster/app"
	"muster/portal/site"
)

// rateWindow is how long a window of the API's rate limit is.
const rateWindow = time.Minute

// NewLimiter bounds the requests of one user in a minute; nil: no bound. Each server counts for itself.
func NewLimiter(perMinute int) *httprate.RateLimiter {
	if perMinute <= 0 {
		return nil
	}
	return httprate.NewRateLimiter(perMinute, rateWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{
		Limit: "RateLimit-Limit", Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"}))
}

// TooOften counts a request, says in its answer's headers how many more there may be, and refuses one that is too many.
func (p *Service) TooOften(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.Limiter == nil || !p.Limiter.OnLimit(w, r, a.Tenant+"/"+a.Name()) {
		return nil
	}
	return &app.Error{Code: app.ERateLimit, Reason: "api_rate", RetryAfter: site.RateAgain,
		Message: fmt.Sprintf("You have sent %d requests within a minute, which is the limit.", p.PerMinute),
		Hint:    "Wait for what Retry-After says; to follow a cluster, read its event stream instead of asking again and again."}
}

// StrangerTooOften is tooOften for those of whom the address is all that is known, where they have something kept.
func (p *Service) StrangerTooOften(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet {
		return nil
	}
	return p.TooOften(w, r, app.Actor{User: "\x00address " + site.Neighbourhood(site.Address(r))})
}

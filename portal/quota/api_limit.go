package quota

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/httprate"
	"muster/app"
	"muster/portal/site"
)

// rateWindow is the window of the API's rate limit.
const rateWindow = time.Minute

// NewLimiter limits the requests of a user per minute; nil for no limit. Each server counts separately.
func NewLimiter(perMinute int) *httprate.RateLimiter {
	if perMinute <= 0 {
		return nil
	}
	return httprate.NewRateLimiter(perMinute, rateWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{
		Limit: "RateLimit-Limit", Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"}))
}

// TooOften counts a request, reports what is left of the limit in the answer's headers, and refuses a request over the limit.
func (p *Service) TooOften(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.Limiter == nil || !p.Limiter.OnLimit(w, r, a.Tenant+"/"+a.Name()) {
		return nil
	}
	return &app.Error{Code: app.ERateLimit, Reason: "api_rate", RetryAfter: site.RateAgain,
		Message: fmt.Sprintf("Rate limit exceeded: %d requests per minute.", p.PerMinute),
		Hint:    "Retry after the time in Retry-After. To follow a cluster, read its event stream instead of polling."}
}

// StrangerTooOften is TooOften by address, for requests without a user that store something.
func (p *Service) StrangerTooOften(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet {
		return nil
	}
	return p.TooOften(w, r, app.Actor{User: "\x00address " + site.Neighbourhood(site.Address(r))})
}

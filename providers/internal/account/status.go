package account

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// longestWait is the longest time that an answer may ask us to wait.
const longestWait = time.Hour

// Status returns the error for an answer's HTTP status, where the cloud's own words do not tell more. Message is the cloud's.
func Status(status int, header http.Header, message string) *app.Error {
	e := &app.Error{Code: app.EInternal, Message: strings.TrimSpace(message)}
	if e.Message == "" {
		e.Message = "the cloud responded " + strconv.Itoa(status) + " " + http.StatusText(status)
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Code = app.ECredentials
	case status == http.StatusNotFound, status == http.StatusGone:
		e.Code = app.ENotFound
	case status == http.StatusConflict:
		e.Code = app.EConflict
	case status == http.StatusTooManyRequests:
		e.Code, e.RetryAfter = app.ERateLimit, RetryAfter(header, time.Now())
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		e.Code = app.ETimeout
	case status >= 500:
		e.Code, e.Reason, e.RetryAfter = app.ETransient, app.ReasonCloudBroken, RetryAfter(header, time.Now())
	case status >= 400:
		e.Code = app.EInvalid
	}
	return e
}

// RetryAfter reads when to come back: Retry-After in seconds or as a date, or RateLimit-Reset (and its X- form) as seconds or as a Unix
// time. 0 where nothing is said; at most an hour.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	for _, name := range []string{"Retry-After", "RateLimit-Reset", "X-RateLimit-Reset"} {
		text := strings.TrimSpace(header.Get(name))
		if text == "" {
			continue
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			if n > 1_000_000_000 {
				return clip(time.Unix(n, 0).Sub(now))
			}
			return clip(time.Duration(min(n, int64(longestWait/time.Second))) * time.Second)
		}
		if at, err := http.ParseTime(text); err == nil {
			return clip(at.Sub(now))
		}
	}
	return 0
}

func clip(d time.Duration) time.Duration { return min(max(d, 0), longestWait) }

package retry

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// maxPause is the longest wait between two tries, whatever the other side asks for.
const maxPause = 10 * time.Second

// Transport returns a transport that gives up on a service that cannot be reached or does not begin to answer. The content of an answer may take
// as long as it needs, and arrives as the service sends it.
func Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	t.DisableCompression = true
	return t
}

// Again sends a request through base up to `tries` times: while the answer is 429 or a 5xx that may pass, or while there is none. It waits for
// `pause` before the second try and twice as long before each further one, or as long as the answer says. A request with a body is
// only sent again if it has GetBody.
func Again(base http.RoundTripper, tries int, pause time.Duration) http.RoundTripper {
	return &again{base: base, tries: tries, pause: pause}
}

type again struct {
	base  http.RoundTripper
	tries int
	pause time.Duration
}

// RoundTrip returns what the last try brought.
func (a *again) RoundTrip(r *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		answer, err := a.base.RoundTrip(r)
		if try >= a.tries || !passes(answer, err) || r.Context().Err() != nil {
			return answer, err
		}
		next := r.Clone(r.Context())
		if r.Body != nil && r.Body != http.NoBody {
			if r.GetBody == nil {
				return answer, err
			}
			body, bodyErr := r.GetBody()
			if bodyErr != nil {
				return answer, err
			}
			next.Body = body
		}
		if err := wait(r.Context(), a.wait(try, answer)); err != nil {
			if next.Body != nil {
				_ = next.Body.Close()
			}
			drop(answer)
			return nil, err
		}
		drop(answer)
		r = next
	}
}

// passes reports whether another try may end otherwise.
func passes(answer *http.Response, err error) bool {
	if err != nil {
		var certificate *tls.CertificateVerificationError
		return !errors.As(err, &certificate) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func (a *again) wait(try int, answer *http.Response) time.Duration {
	d := a.pause << (try - 1)
	if d > 0 { // so that many servers do not come back at once
		d = d/2 + rand.N(d)
	}
	if answer != nil {
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds >= 0 {
			d = max(d, min(time.Duration(seconds), 3600)*time.Second)
		}
	}
	return min(d, maxPause)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// drop reads the end of a short answer, so that its connection can be used again.
func drop(answer *http.Response) {
	if answer != nil {
		_, _ = io.CopyN(io.Discard, answer.Body, 64<<10)
		_ = answer.Body.Close()
	}
}

// CloseIdleConnections closes those of the base.
func (a *again) CloseIdleConnections() {
	if c, ok := a.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

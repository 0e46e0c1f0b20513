package cli

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// DefaultRetryTime is how long watching tolerates a server that doesn't answer.
const DefaultRetryTime = time.Minute

// Retrier retries calls to a server that doesn't answer, as during a restart, and says so once. Use it only for calls that
// change nothing.
type Retrier struct {
	Client *Client
	Limit  time.Duration
	Note   func(string) // called when the server stops and resumes answering
}

// Try repeats a call until it is answered; any error from the server itself is final.
func (p *Retrier) Try(ctx context.Context, call func(context.Context) error) error {
	var silent time.Time
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := call(ctx)
		switch {
		case err == nil:
			if !silent.IsZero() {
				p.Note("the server is back")
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !p.retryable(err):
			return err
		case silent.IsZero():
			silent = time.Now()
			p.Note(fmt.Sprintf("%v; retrying for up to %s", err, humanize.Exact(p.Limit)))
		case time.Since(silent) > p.Limit:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// retryable tells an unreachable server from one that refuses. A server that refuses our token may have been
// restarted with a new one: then the settings have changed, and a retry is worthwhile.
func (p *Retrier) retryable(err error) bool {
	changed := p.Client.Renew()
	switch app.CodeOf(err) {
	case app.ETransient, app.ETimeout, app.ERateLimit:
		return true
	case app.EUnauthorized:
		return changed
	}
	return false
}

package cli

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

// ServerPatience is how long one who watches bears with a server that does not answer.
const ServerPatience = time.Minute

// Patient calls a server again for as long as it does not answer, as when it is started again, and says so once. Only
// calls that change nothing may be made through it.
type Patient struct {
	Client *Client
	Limit  time.Duration
	Note   func(string) // told when the server stops and starts to answer
}

// Try makes a call until it is answered; any refusal by the server itself is final.
func (p *Patient) Try(ctx context.Context, call func(context.Context) error) error {
	var silent time.Time
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := call(ctx)
		switch {
		case err == nil:
			if !silent.IsZero() {
				p.Note("the server answers again")
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !p.worthAnother(err):
			return err
		case silent.IsZero():
			silent = time.Now()
			p.Note(fmt.Sprintf("%v; trying again for up to %s", err, Clock(p.Limit)))
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

// worthAnother tells a server that is away from one that says no. A server that refuses our token may have been
// started again with another one: then the settings have changed, and the call is worth another try.
func (p *Patient) worthAnother(err error) bool {
	changed := p.Client.Renew()
	switch app.CodeOf(err) {
	case app.ETransient, app.ETimeout, app.ERateLimit:
		return true
	case app.EUnauthorized:
		return changed
	}
	return false
}

package vsphere

import (
	"context"
	"sync/atomic"
	"time"

	"muster/app/family"
	"muster/providers/internal/account"
)

// cloud is one account.
type cloud struct {
	*inventory
	raw    account.Settings
	timing timing
	asked  account.Asked // clones that this process asked for

	whole atomic.Bool // vCenter takes no paths to single keys of a configuration
}

// timing is how long things take; tests have less patience.
type timing struct {
	late     time.Duration // how long after a lost response a clone may still not be in the folder
	look     time.Duration // between looks at a task, at most
	fresh    time.Duration // how long what a datacenter has counts as known
	shutdown time.Duration // how long a system may take to shut itself down before its power is cut
	keep     time.Duration // how long a clone's task is remembered
}

// vCenter's inventory is true at once. What lags is a clone, which isn't in it before it's complete, if its caller was cut off.
var usual = timing{late: 10 * time.Second, look: 3 * time.Second, fresh: time.Minute, shutdown: time.Minute, keep: 5 * time.Minute}

var (
	_ family.Provider       = (*cloud)(nil)
	_ family.ProviderCloser = (*cloud)(nil)
	_ family.LateLister     = (*cloud)(nil)
	_ family.Sleeper        = (*cloud)(nil)
	_ family.Adopter        = (*cloud)(nil)
	_ family.AccountChecker = (*cloud)(nil)
	_ family.Offerer        = (*cloud)(nil)
)

// Open returns the account of the settings. It asks nothing yet.
func Open(settings map[string]any, via account.Network) (family.Provider, error) {
	return open(settings, usual, via)
}

func open(raw map[string]any, t timing, via account.Network) (*cloud, error) {
	s, err := read(account.Settings(raw))
	if err != nil {
		return nil, err
	}
	return &cloud{inventory: &inventory{session: newSession(s, via), fresh: t.fresh}, raw: account.Settings(raw), timing: t}, nil
}

func (c *cloud) ListsLate() time.Duration { return c.timing.late }

// wait waits, or returns the context's error.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package digitalocean

import (
	"context"
	"net/http"
	"strings"
	"time"

	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"

	"github.com/digitalocean/godo"
)

// cloud is one account.
type cloud struct {
	settings
	raw    account.Settings
	api    *godo.Client
	locks  keylock.Locks
	timing timing

	recent    recent
	volumes   volumes
	firewalls firewalls
	*copies   // for snapshots of volumes
	*bakes    // for images of droplets
}

// timing is how long things take; tests have less patience.
type timing struct {
	late     time.Duration // how long lists may lag behind
	look     time.Duration // between looks at something that takes a while
	fresh    time.Duration // how long a snapshot of a droplet may not be listed after it was made
	shutdown time.Duration // how long a system may take to shut itself down before its power is cut
}

// DigitalOcean does not say how long its lists lag behind. A droplet is in the list by the time that its creation is answered, and its tags are put on
// beside that; ten seconds are more than either was ever reported to take.
var usual = timing{late: 10 * time.Second, look: 3 * time.Second, fresh: 70 * time.Second, shutdown: time.Minute}

var (
	_ family.Provider       = (*cloud)(nil)
	_ family.ProviderCloser = (*cloud)(nil)
	_ family.LateLister     = (*cloud)(nil)
	_ family.Sleeper        = (*cloud)(nil)
	_ family.Adopter        = (*cloud)(nil)
	_ family.AccountChecker = (*cloud)(nil)
	_ family.Offerer        = (*cloud)(nil)
	_ family.Sharer         = (*cloud)(nil)
	_ family.Namer          = (*cloud)(nil)
	_ family.Volumes        = (*cloud)(nil)
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
	transport := via.Transport()
	transport.ResponseHeaderTimeout = time.Minute
	transport.MaxIdleConnsPerHost = 8
	options := []godo.ClientOpt{
		godo.SetUserAgent("muster"),
		godo.SetRequestHeaders(map[string]string{"Authorization": "Bearer " + s.token}),
		godo.WithRetryAndBackoffs(godo.RetryConfig{RetryMax: 0}), // when to ask again is Muster's to say
	}
	if s.url != "" {
		options = append(options, godo.SetBaseURL(strings.TrimRight(s.url, "/")+"/"))
	}
	api, err := godo.New(&http.Client{
		Transport: transport,
		// A redirect would carry the token elsewhere, or send a creating call twice.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, options...)
	if err != nil {
		return nil, err
	}
	c := &cloud{settings: s, raw: account.Settings(raw), api: api, timing: t, recent: recent{keep: 6 * t.late, made: make(map[string]made)},
		volumes: volumes{api: api, look: t.look}, firewalls: firewalls{api: api, sshFrom: s.sshFrom}}
	c.copies, c.bakes = &copies{c: c}, &bakes{c: c}
	return c, nil
}

func (c *cloud) ListsLate() time.Duration { return c.timing.late }

// Close lets go of idle connections.
func (c *cloud) Close() error {
	c.api.HTTPClient.CloseIdleConnections()
	return nil
}

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

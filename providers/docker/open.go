package docker

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/moby/moby/client"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"
)

// engine is one Docker Engine.
type engine struct {
	settings
	raw    account.Settings
	api    *client.Client
	locks  keylock.Locks
	images keylock.Locks
	agree  atomic.Bool // on a version of the API
}

var (
	_ family.Provider       = (*engine)(nil)
	_ family.ProviderCloser = (*engine)(nil)
	_ family.Sleeper        = (*engine)(nil)
	_ family.AccountChecker = (*engine)(nil)
	_ family.Offerer        = (*engine)(nil)
)

// Open returns the engine of the settings. It asks nothing yet.
func Open(settings map[string]any) (family.Provider, error) { return open(settings) }

func open(raw map[string]any) (*engine, error) {
	s, err := read(account.Settings(raw))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: s.tls, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
	scheme := "http"
	if s.tls != nil {
		scheme = "https"
	}
	api, err := client.New(
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(s.host),
		client.WithScheme(scheme), // the client would take any transport for one that speaks TLS
		client.WithUserAgent("muster"),
		client.WithHTTPRequestHook(ask),
		client.WithHTTPResponseHook(overhear),
	)
	if err != nil {
		return nil, account.Invalid("host", "invalid engine address: %w", err)
	}
	return &engine{settings: s, raw: account.Settings(raw), api: api}, nil
}

// Close lets go of idle connections.
func (e *engine) Close() error { return e.api.Close() }

// asking begins calls to the engine: the version of its API is agreed on once, so that a failure to do so is reported as what it is.
func (e *engine) asking(ctx context.Context) (context.Context, *heard, error) {
	ctx, h := listen(ctx)
	if err := ctx.Err(); err != nil {
		return ctx, h, err
	}
	if e.agree.Load() {
		return ctx, h, nil
	}
	_, err := e.api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	e.agree.Store(err == nil)
	return ctx, h, failure(ctx, h, err)
}

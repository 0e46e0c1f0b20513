package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"muster/app"
	"muster/jobs"
	"muster/providers"
)

// providerSet opens each account once, when it is first asked for.
type providerSet struct {
	dir          string
	installation string
	log          *slog.Logger

	mu     sync.Mutex
	opened map[string]app.Provider
}

var _ jobs.Providers = (*providerSet)(nil)

// Provider implements jobs.Providers.
func (p *providerSet) Provider(ctx context.Context, spec app.ProviderSpec) (app.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open := p.opened[spec.Name]; open != nil {
		return open, nil
	}
	// The account outlives the step that asked for it first.
	open, err := providers.Open(context.WithoutCancel(ctx), spec, providers.Env{
		Installation: p.installation, DataDir: filepath.Join(p.dir, spec.Name), Logger: p.log})
	if err != nil {
		return nil, err
	}
	if p.opened == nil {
		p.opened = map[string]app.Provider{}
	}
	p.opened[spec.Name] = open
	return open, nil
}

// Close lets go of what the accounts hold. Machines stay.
func (p *providerSet) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, open := range p.opened {
		if c, ok := open.(app.ProviderCloser); ok {
			errs = append(errs, c.Close())
		}
	}
	p.opened = nil
	return errors.Join(errs...)
}

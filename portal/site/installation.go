package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
)

// Installation is a power that a Muster may have: to tell superadmins how the installation is. A portal without it has no pages of it.
type Installation interface {
	// Settings never holds a secret.
	Settings(ctx context.Context, a app.Actor) (fleet.ServerFacts, error)
	ProviderHealth(ctx context.Context, a app.Actor) ([]fleet.ProviderHealth, error)
	// Queues gives all tenants in which something is under way.
	Queues(ctx context.Context, a app.Actor) (execution.Queues, error)
}

func (p *Site) Installation() Installation {
	m, _ := p.Muster.(Installation)
	return m
}

package site

import (
	"context"

	"muster/app"
)

// Pooling is a power that a Muster may have: to make machines ahead of time. Only admins may.
type Pooling interface {
	Pools(ctx context.Context, a app.Actor) ([]app.PoolView, error)
	Pool(ctx context.Context, a app.Actor, name string) (app.PoolView, error)
	CreatePool(ctx context.Context, a app.Actor, r app.PoolRequest) (app.PoolView, error)
	ChangePool(ctx context.Context, a app.Actor, r app.PoolRequest) (app.PoolView, error)
	DrainPool(ctx context.Context, a app.Actor, name string) (app.PoolView, error)
	// DeletePool begins to give all machines back.
	DeletePool(ctx context.Context, a app.Actor, name string) (app.PoolReceipt, error)
	// PoolReceipt also tells of a pool that is gone.
	PoolReceipt(ctx context.Context, a app.Actor, name string) (app.PoolReceipt, error)
}

func (p *Site) Pooling() Pooling {
	m, _ := p.Muster.(Pooling)
	return m
}

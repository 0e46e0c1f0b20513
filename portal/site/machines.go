package site

import (
	"context"

	"muster/app"
	"muster/app/fleet"
)

// Machines is a power that a Muster may have: to account for what was made at providers. A portal without it has no
// receipts and no page of orphans.
type Machines interface {
	// Receipt gives what a cluster has had at its provider, and what that cost.
	Receipt(ctx context.Context, a app.Actor, cluster string) (fleet.Receipt, error)
	// Orphans lists machines of ours that nobody stands behind; with gone also those that went lately. EForbidden for
	// anybody but admins.
	Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	DecideOrphan(ctx context.Context, a app.Actor, id string, d app.OrphanDecision) (app.Orphan, error)
	SetOrphanMode(ctx context.Context, a app.Actor, m app.OrphanMode) error
}

// Machines gives the power; nil where there is none.
func (p *Site) Machines() Machines {
	m, _ := p.Muster.(Machines)
	return m
}

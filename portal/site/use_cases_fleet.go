package site

import (
	"context"
	"io"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/pool"
)

// Installation tells how the installation and its accounts at providers are.
type Installation interface {
	// Settings never holds a secret.
	Settings(ctx context.Context, a app.Actor) (fleet.ServerFacts, error)
	ProviderHealth(ctx context.Context, a app.Actor) ([]fleet.ProviderHealth, error)
	CheckProvider(ctx context.Context, a app.Actor, name string) (fleet.ProviderCheck, error)
	ProviderOffers(ctx context.Context, a app.Actor, name string) (family.Offers, error)
}

// Provisioners carry out steps. Only admins of the installation may decide about them.
type Provisioners interface {
	Provisioners(ctx context.Context, a app.Actor) ([]app.Provisioner, error)
	DrainProvisioner(ctx context.Context, a app.Actor, name string) (int, error)
	ProvisionerTokens(ctx context.Context, a app.Actor) ([]fleet.ProvisionerToken, error)
	// CreateProvisionerToken returns the token, which cannot be read again.
	CreateProvisionerToken(ctx context.Context, a app.Actor, name string, grant fleet.ProvisionerGrant) (string, error)
	RevokeProvisionerToken(ctx context.Context, a app.Actor, name string) error
}

// Machines account for what was made at providers.
type Machines interface {
	// Receipt returns what a cluster has had at its provider, and what that cost.
	Receipt(ctx context.Context, a app.Actor, cluster string) (fleet.Receipt, error)
	// Orphans lists machines of ours that no one stands behind; with gone also those that went recently. EForbidden for
	// anybody but admins.
	Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	DecideOrphan(ctx context.Context, a app.Actor, id string, d fleet.OrphanDecision) (fleet.Orphan, error)
	SetOrphanMode(ctx context.Context, a app.Actor, m fleet.OrphanMode) error
}

// Pools are machines that are made ahead of time. Only admins may decide about them.
type Pools interface {
	Pools(ctx context.Context, a app.Actor) ([]pool.PoolView, error)
	Pool(ctx context.Context, a app.Actor, name string) (pool.PoolView, error)
	CreatePool(ctx context.Context, a app.Actor, r pool.PoolRequest) (pool.PoolView, error)
	ChangePool(ctx context.Context, a app.Actor, r pool.PoolRequest) (pool.PoolView, error)
	DrainPool(ctx context.Context, a app.Actor, name string) (pool.PoolView, error)
	// DeletePool begins to give all machines back.
	DeletePool(ctx context.Context, a app.Actor, name string) (pool.PoolReceipt, error)
	// PoolReceipt also tells of a pool that is gone.
	PoolReceipt(ctx context.Context, a app.Actor, name string) (pool.PoolReceipt, error)
}

// Metering writes what is measured.
type Metering interface {
	Metrics(ctx context.Context, a app.Actor, to io.Writer) error
}

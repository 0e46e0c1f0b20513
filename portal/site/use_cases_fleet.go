package site

import (
	"context"
	"io"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/image"
	"muster/app/plugin"
	"muster/app/pool"
)

// Installation shows the state of the installation and its provider accounts.
type Installation interface {
	// Settings never contains secrets.
	Settings(ctx context.Context, a app.Actor) (fleet.ServerInfo, error)
	ProviderHealth(ctx context.Context, a app.Actor) ([]fleet.ProviderHealth, error)
	CheckProvider(ctx context.Context, a app.Actor, name string) (fleet.ProviderCheck, error)
	ProviderOffers(ctx context.Context, a app.Actor, name string) (family.Offers, error)
}

// Provisioners manages provisioners, for admins of the installation.
type Provisioners interface {
	Provisioners(ctx context.Context, a app.Actor) ([]app.Provisioner, error)
	// Provisioner returns one by its ID, or by its name if only one that is registered has it.
	Provisioner(ctx context.Context, a app.Actor, id string) (fleet.ProvisionerDetail, error)
	DrainProvisioner(ctx context.Context, a app.Actor, name string) (int, error)
	ProvisionerTokens(ctx context.Context, a app.Actor) ([]fleet.ProvisionerToken, error)
	// CreateProvisionerToken returns the token, which can't be read again.
	CreateProvisionerToken(ctx context.Context, a app.Actor, name string, grant fleet.ProvisionerGrant) (string, error)
	RevokeProvisionerToken(ctx context.Context, a app.Actor, name string) error
}

// Plugins decides about programs of plugins, for admins of the installation.
type Plugins interface {
	Plugins(ctx context.Context, a app.Actor) ([]plugin.View, error)
	// RegisterPlugin pins a program to its file; with a SHA-256, the file must have that one.
	RegisterPlugin(ctx context.Context, a app.Actor, name, sha256 string) (plugin.View, error)
	RemovePlugin(ctx context.Context, a app.Actor, name string) (plugin.View, error)
}

// Machines accounts for machines at providers.
type Machines interface {
	// Receipt returns a cluster's machines and their costs.
	Receipt(ctx context.Context, a app.Actor, cluster string) (fleet.Receipt, error)
	// Orphans lists orphaned machines; with gone, also recently deleted ones. EForbidden for everyone but admins.
	Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	DecideOrphan(ctx context.Context, a app.Actor, id string, d fleet.OrphanDecision) (fleet.Orphan, error)
	SetOrphanMode(ctx context.Context, a app.Actor, m fleet.OrphanMode) error
}

// Images manages baked images, for admins.
type Images interface {
	Images(ctx context.Context, a app.Actor) (image.View, error)
	BakeImages(ctx context.Context, a app.Actor, template string, size int) (image.Built, error)
	DeleteImage(ctx context.Context, a app.Actor, id int64) error
	SetBakeRule(ctx context.Context, a app.Actor, r image.Rule) (image.Rule, error)
	DeleteBakeRule(ctx context.Context, a app.Actor, template string) error
}

// Pools manages pools, for admins.
type Pools interface {
	Pools(ctx context.Context, a app.Actor) ([]pool.View, error)
	Pool(ctx context.Context, a app.Actor, name string) (pool.View, error)
	CreatePool(ctx context.Context, a app.Actor, r pool.Request) (pool.View, error)
	ChangePool(ctx context.Context, a app.Actor, r pool.Request) (pool.View, error)
	DrainPool(ctx context.Context, a app.Actor, name string) (pool.View, error)
	// DeletePool starts deleting all machines.
	DeletePool(ctx context.Context, a app.Actor, name string) (pool.Receipt, error)
	// PoolReceipt also works for a deleted pool.
	PoolReceipt(ctx context.Context, a app.Actor, name string) (pool.Receipt, error)
}

// Metering writes metrics.
type Metering interface {
	Metrics(ctx context.Context, a app.Actor, to io.Writer) error
}

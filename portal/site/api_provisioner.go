package site

import (
	"context"

	"muster/app"
)

// Provisioning is a power that a Muster may have: to say and decide who carries out steps. Only admins of the installation
// may.
type Provisioning interface {
	Provisioners(ctx context.Context, a app.Actor) ([]app.Provisioner, error)
	DrainProvisioner(ctx context.Context, a app.Actor, name string) (int, error)
	ProvisionerTokens(ctx context.Context, a app.Actor) ([]app.ProvisionerToken, error)
	// CreateProvisionerToken gives the token, which cannot be read again.
	CreateProvisionerToken(ctx context.Context, a app.Actor, name string, grant app.ProvisionerGrant) (string, error)
	RevokeProvisionerToken(ctx context.Context, a app.Actor, name string) error
}

package fleet

import (
	"context"
	"time"

	"muster/app"
	"muster/app/identity"
)

// Tokens of provisioners begin with provisionerMark and are kept as hashes. Tokens of workers begin with workerMark and are
// kept nowhere: they say what they are for, signed by the server.
const (
	provisionerMark = "mp_"
	workerMark      = "mw_"
)

// workerTokenTime is how long a worker's token holds. A new one comes with each heartbeat of its provisioner, so a worker
// whose provisioner has stopped is cut off after this time.
const workerTokenTime = time.Minute

// CreateProvisionerToken makes a token with which provisioners register and do what the grant allows, and returns it; it cannot be read again. ENotFound
// for a tenant that does not exist.
func (a *Provisioners) CreateProvisionerToken(ctx context.Context, actor app.Actor, name string, grant ProvisionerGrant) (string, error) {
	if err := actor.Authorize("CreateProvisionerToken"); err != nil {
		return "", err
	}
	if !app.TagWord(name) {
		return "", &app.Error{Code: app.EInvalid, Field: "name", Message: "A token name must have 1 to 63 letters, digits, '.', '_', '-' or '/'."}
	}
	grant, err := grant.Check()
	if err != nil {
		return "", err
	}
	for _, tenant := range grant.only() {
		if _, err := a.Store.Tenant(ctx, tenant); err != nil {
			return "", err
		}
	}
	token := provisionerMark + identity.NewToken()
	return token, a.Store.CreateProvisionerToken(ctx, ProvisionerToken{Name: name, CreatedBy: actor.User, CreatedAt: a.Now(), ProvisionerGrant: grant}, identity.HashToken(token))
}

// ProvisionerTokens lists them by name.
func (a *Provisioners) ProvisionerTokens(ctx context.Context, actor app.Actor) ([]ProvisionerToken, error) {
	if err := actor.Authorize("ProvisionerTokens"); err != nil {
		return nil, err
	}
	return a.Store.ProvisionerTokens(ctx)
}

// RevokeProvisionerToken ends a token, all that registered with it, and the tokens of their workers, at once.
func (a *Provisioners) RevokeProvisionerToken(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("RevokeProvisionerToken"); err != nil {
		return err
	}
	return a.Store.RevokeProvisionerToken(ctx, name, actor.User, a.Now())
}

// workerGrant is what a worker's token is for.
type workerGrant struct {
	Provisioner string `json:"p"`
	Tenant      string `json:"t"`
	Expires     int64  `json:"e"` // Unix seconds
}

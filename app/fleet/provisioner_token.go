package fleet

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
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
func (a *Service) CreateProvisionerToken(ctx context.Context, actor app.Actor, name string, grant ProvisionerGrant) (string, error) {
	if err := actor.Authorize("CreateProvisionerToken"); err != nil {
		return "", err
	}
	if !app.TagWord(name) {
		return "", &app.Error{Code: app.EInvalid, Field: "name", Message: "A token needs a name: 1 to 63 letters, digits, '.', '_', '-' or '/'."}
	}
	grant, err := grant.Check()
	if err != nil {
		return "", err
	}
	for _, tenant := range grant.Only() {
		if _, err := a.Store.Tenant(ctx, tenant); err != nil {
			return "", err
		}
	}
	token := provisionerMark + identity.NewToken()
	return token, a.Store.CreateProvisionerToken(ctx, ProvisionerToken{Name: name, CreatedBy: actor.User, CreatedAt: a.Now(), ProvisionerGrant: grant}, identity.HashToken(token))
}

// ProvisionerTokens lists them by name.
func (a *Service) ProvisionerTokens(ctx context.Context, actor app.Actor) ([]ProvisionerToken, error) {
	if err := actor.Authorize("ProvisionerTokens"); err != nil {
		return nil, err
	}
	return a.Store.ProvisionerTokens(ctx)
}

// RevokeProvisionerToken ends a token, all that registered with it, and the tokens of their workers, at once.
func (a *Service) RevokeProvisionerToken(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("RevokeProvisionerToken"); err != nil {
		return err
	}
	return a.Store.RevokeProvisionerToken(ctx, name, actor.User, a.Now())
}

// WorkerGrant is what a worker's token is for.
type WorkerGrant struct {
	Provisioner string `json:"p"`
	Tenant      string `json:"t"`
	Expires     int64  `json:"e"` // Unix seconds
}

func (a *Service) workerToken(ctx context.Context, provisioner, tenant string) (string, error) {
	key, err := a.WorkerKeys.Get(ctx, a.Store)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(WorkerGrant{Provisioner: provisioner, Tenant: tenant, Expires: a.Now().Add(workerTokenTime).Unix()})
	if err != nil {
		return "", err
	}
	text := workerMark + base64.RawURLEncoding.EncodeToString(b)
	return text + "." + base64.RawURLEncoding.EncodeToString(app.Sign(key, text)), nil
}

// CoordinatorOfToken gives the worker's contract as the token of a worker allows it: for one tenant and the workers of one
// provisioner. EUnauthorized for anything else.
func (a *Service) CoordinatorOfToken(ctx context.Context, token string) (execution.Coordinator, error) {
	key, err := a.WorkerKeys.Get(ctx, a.Store)
	if err != nil {
		return nil, err
	}
	text, signature, _ := strings.Cut(token, ".")
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, app.Sign(key, text)) {
		return nil, execution.ErrWorkerToken
	}
	var g WorkerGrant
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, workerMark))
	if err = errors.Join(err, json.Unmarshal(b, &g)); err != nil {
		return nil, execution.ErrWorkerToken
	}
	if a.Now().Unix() > g.Expires {
		return nil, execution.ErrWorkerToken
	}
	p, err := a.Store.Provisioner(ctx, g.Provisioner)
	if app.CodeOf(err) == app.ENotFound || err == nil && p.State == app.ProvisionerRevoked {
		return nil, execution.ErrWorkerToken
	}
	if err != nil {
		return nil, err
	}
	return a.Executions.Grant(p, g.Tenant, false), nil
}

// CoordinatorOf gives the same to workers inside this process.
func (a *Service) CoordinatorOf(provisioner, tenant string) execution.Coordinator {
	return a.Executions.Grant(app.Provisioner{ID: provisioner}, tenant, true)
}

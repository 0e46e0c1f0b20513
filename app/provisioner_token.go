package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
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
func (a *App) CreateProvisionerToken(ctx context.Context, actor Actor, name string, grant ProvisionerGrant) (string, error) {
	if err := actor.may("CreateProvisionerToken"); err != nil {
		return "", err
	}
	if !tagWord(name) {
		return "", &Error{Code: EInvalid, Field: "name", Message: "A token needs a name: 1 to 63 letters, digits, '.', '_', '-' or '/'."}
	}
	grant, err := grant.check()
	if err != nil {
		return "", err
	}
	for _, tenant := range grant.only() {
		if _, err := a.Store.Tenant(ctx, tenant); err != nil {
			return "", err
		}
	}
	token := provisionerMark + NewToken()
	return token, a.Store.CreateProvisionerToken(ctx, ProvisionerToken{Name: name, CreatedBy: actor.User, CreatedAt: a.Now(), ProvisionerGrant: grant}, HashToken(token))
}

// ProvisionerTokens lists them by name.
func (a *App) ProvisionerTokens(ctx context.Context, actor Actor) ([]ProvisionerToken, error) {
	if err := actor.may("ProvisionerTokens"); err != nil {
		return nil, err
	}
	return a.Store.ProvisionerTokens(ctx)
}

// RevokeProvisionerToken ends a token, all that registered with it, and the tokens of their workers, at once.
func (a *App) RevokeProvisionerToken(ctx context.Context, actor Actor, name string) error {
	if err := actor.may("RevokeProvisionerToken"); err != nil {
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

// workerKey signs tokens of workers. It is the same for all servers of an installation.
type workerKey struct {
	mu  sync.Mutex
	key []byte
}

func (k *workerKey) get(ctx context.Context, s ProvisionerStore) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == nil {
		key, err := s.WorkerKey(ctx)
		if err != nil {
			return nil, err
		}
		k.key = key
	}
	return k.key, nil
}

func (a *App) workerToken(ctx context.Context, provisioner, tenant string) (string, error) {
	key, err := a.workers.get(ctx, a.Store)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(WorkerGrant{Provisioner: provisioner, Tenant: tenant, Expires: a.Now().Add(workerTokenTime).Unix()})
	if err != nil {
		return "", err
	}
	text := workerMark + base64.RawURLEncoding.EncodeToString(b)
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(key, text)), nil
}

func sign(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// errWorkerToken does not say what is wrong: forged, over, or of a registration that was revoked.
var errWorkerToken = &Error{Code: EUnauthorized, Reason: "worker_token", Message: "This worker's token is not valid (any more).",
	Hint: "Its provisioner gets a new one with each heartbeat."}

// CoordinatorOfToken gives the worker's contract as the token of a worker allows it: for one tenant and the workers of one
// provisioner. EUnauthorized for anything else.
func (a *App) CoordinatorOfToken(ctx context.Context, token string) (Coordinator, error) {
	key, err := a.workers.get(ctx, a.Store)
	if err != nil {
		return nil, err
	}
	text, signature, _ := strings.Cut(token, ".")
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, sign(key, text)) {
		return nil, errWorkerToken
	}
	var g WorkerGrant
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, workerMark))
	if err = errors.Join(err, json.Unmarshal(b, &g)); err != nil {
		return nil, errWorkerToken
	}
	if a.Now().Unix() > g.Expires {
		return nil, errWorkerToken
	}
	p, err := a.Store.Provisioner(ctx, g.Provisioner)
	if CodeOf(err) == ENotFound || err == nil && p.State == ProvisionerRevoked {
		return nil, errWorkerToken
	}
	if err != nil {
		return nil, err
	}
	return a.grant(p, g.Tenant, false), nil
}

// CoordinatorOf gives the same to workers inside this process.
func (a *App) CoordinatorOf(provisioner, tenant string) Coordinator {
	return a.grant(Provisioner{ID: provisioner}, tenant, true)
}

package fleet

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"muster/app"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/tunnel"
)

// RegistryStore keeps which provisioners there are.
type RegistryStore interface {
	AddProvisioner(ctx context.Context, p app.Provisioner) error
	// EndProvisioner returns a registration that is alive its last state, and forgets those that ended a day ago.
	EndProvisioner(ctx context.Context, id string, state app.ProvisionerState, now time.Time) error
	Installation(ctx context.Context) (string, error)
	// Provisioner returns a registration, without its tenants' running steps, or ENotFound.
	Provisioner(ctx context.Context, id string) (app.Provisioner, error)
	// ProvisionerTokenOf returns the token of a hash, or ENotFound.
	ProvisionerTokenOf(ctx context.Context, hash []byte) (ProvisionerToken, error)
	// Provisioners returns all that are kept, those alive first, by name, without their tenants' running steps.
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
	ReleaseClaims(ctx context.Context, prefix string, now time.Time) (int, error)
	// TouchProvisioner notes that it was heard of, and begins to drain it where that is asked. It returns the registration as
	// it is then; one that has ended stays so.
	TouchProvisioner(ctx context.Context, id string, draining bool, now time.Time) (app.Provisioner, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
	WorkerKey(ctx context.Context) ([]byte, error)
}

// RegistriesConfig is what Registries is created from. Only what says so may be nil.
type RegistriesConfig struct {
	Store      RegistryStore
	Now        func() time.Time
	Executions *execution.Service
	WorkerKeys *identity.WorkerKeys
	Tunnels    *tunnel.Service
}

// Registries let provisioners register, and their workers work.
type Registries struct {
	RegistriesConfig
}

// NewRegistries returns them on top of what c holds.
func NewRegistries(c RegistriesConfig) *Registries { return &Registries{RegistriesConfig: c} }

// LocalPrefix begins the ids of provisioners inside a server.
const LocalPrefix = "local:"

const (
	idLetters  = 12
	maxEnded   = 1000             // workers that a heartbeat names as ended
	maxWait    = 10 * time.Second // for new orders
	rareTouch  = 30 * time.Second // how often a provisioner that no one else watches is noted as heard of
	maxNameLen = 100
)

// errProvisionerToken is for tokens that no one has (any more).
var errProvisionerToken = &app.Error{Code: app.EUnauthorized, Reason: "provisioner_token", Message: "This provisioner token is invalid or has expired.",
	Hint: "Create a new one on the server: muster provisioner token create NAME --for-tenant TENANT"}

// registry is the provisioner's contract for those who came with one token.
type registry struct {
	app   *Registries
	token string // its name; "" inside a server
	grant ProvisionerGrant
	local string // begins its ids, inside a server
	alone bool   // no other server looks whether it is alive
	last  time.Time
}

var _ Registry = (*registry)(nil)

// RegistryOfToken returns the contract for a provisioner token; EUnauthorized for anything else.
func (a *Registries) RegistryOfToken(ctx context.Context, token string) (Registry, error) {
	if !strings.HasPrefix(token, provisionerMark) {
		return nil, errProvisionerToken
	}
	t, err := a.Store.ProvisionerTokenOf(ctx, identity.HashToken(token))
	if app.CodeOf(err) == app.ENotFound {
		return nil, errProvisionerToken
	}
	if err != nil {
		return nil, err
	}
	return &registry{app: a, token: t.Name, grant: t.ProvisionerGrant}, nil
}

// LocalRegistry returns the contract to the one provisioner inside a server, whose ids begin with prefix (LocalPrefix and the name
// of the server). Alone says that there is no other server, so that it need not prove every two seconds that it lives. It is for
// one goroutine.
func (a *Registries) LocalRegistry(prefix string, alone bool) Registry {
	return &registry{app: a, local: prefix, alone: alone}
}

func (r *registry) Register(ctx context.Context, reg Registration) (Registered, error) {
	if reg.Name = strings.TrimSpace(reg.Name); !printable(reg.Name) {
		return Registered{}, &app.Error{Code: app.EInvalid, Field: "name", Message: "A provisioner name must have 1 to 100 characters."}
	}
	if reg.Slots < 1 || reg.Slots > app.MaxSlots {
		return Registered{}, app.Errorf(app.EInvalid, "A provisioner can offer 1 to %d slots, not %d.", app.MaxSlots, reg.Slots)
	}
	if err := CheckTags(reg.Tags); err != nil {
		return Registered{}, err
	}
	if r.token != "" {
		var err error
		if reg, err = r.admit(ctx, reg); err != nil {
			return Registered{}, err
		}
	}
	installation, err := r.app.Store.Installation(ctx)
	if err != nil {
		return Registered{}, err
	}
	now := r.app.Now()
	id := strings.ToLower(rand.Text()[:idLetters])
	if r.token == "" {
		id = r.local + id
		if err := r.succeed(ctx, now); err != nil {
			return Registered{}, err
		}
	}
	r.last = now
	return Registered{ID: id, Installation: installation}, r.app.Store.AddProvisioner(ctx, app.Provisioner{ID: id, Name: reg.Name, Host: humanize.Clip(reg.Host),
		Version: humanize.Clip(reg.Version), Token: r.token, Only: r.grant.only(), Tags: reg.Tags, Slots: reg.Slots, State: app.ProvisionerActive, RegisteredAt: now, SeenAt: now})
}

// succeed ends what earlier runs of this server have left.
func (r *registry) succeed(ctx context.Context, now time.Time) error {
	all, err := r.app.Store.Provisioners(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.State.Alive() && strings.HasPrefix(p.ID, r.local) {
			if err := r.app.Store.EndProvisioner(ctx, p.ID, app.ProvisionerLost, now); err != nil {
				return err
			}
		}
	}
	return nil
}

func printable(s string) bool {
	return s != "" && len(s) <= maxNameLen && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// own returns a registration of this token, whether or not it still exists.
func (r *registry) own(ctx context.Context, id string) (app.Provisioner, error) {
	p, err := r.app.Store.Provisioner(ctx, id)
	if app.CodeOf(err) == app.ENotFound || err == nil && p.Token != r.token {
		return p, execution.ErrReplaced
	}
	return p, err
}

func (r *registry) Beat(ctx context.Context, b Heartbeat) (Orders, error) {
	p, err := r.own(ctx, b.ID)
	if err != nil {
		return Orders{}, err
	}
	now := r.app.Now()
	if !r.alone || b.Draining && p.State == app.ProvisionerActive || now.Sub(r.last) > rareTouch || now.Before(r.last) {
		r.last = now
		if p, err = r.app.Store.TouchProvisioner(ctx, b.ID, b.Draining, now); err != nil {
			return Orders{}, err
		}
	}
	if err := r.release(ctx, b, now); err != nil {
		return Orders{}, err
	}
	changed, stop := r.app.Store.Watch(app.SharesTopic())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, min(max(b.Wait, 0), maxWait))
	defer cancel()
	for {
		if !p.State.Alive() {
			return Orders{}, execution.ErrReplaced
		}
		if o := ordersFor(p); o.Version != b.Known || ctx.Err() != nil {
			return r.withTokens(context.WithoutCancel(ctx), p, o)
		}
		look := time.NewTimer(execution.LookEvery)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-look.C:
		}
		look.Stop()
		if p, err = r.own(context.WithoutCancel(ctx), b.ID); err != nil {
			return Orders{}, err
		}
	}
}

// release frees the claims of workers whose processes have ended. Their provisioner waited for that end, so none of them acts
// any more, and no one needs to wait until the claims run out.
func (r *registry) release(ctx context.Context, b Heartbeat, now time.Time) error {
	if len(b.Ended) > maxEnded {
		return app.Errorf(app.ETooLarge, "A heartbeat can name at most %d ended workers, not %d.", maxEnded, len(b.Ended))
	}
	for _, name := range b.Ended {
		if rest, ok := strings.CutPrefix(name, execution.WorkerPrefix(b.ID)); !ok || len(rest) != workerLetters {
			return app.Errorf(app.EForbidden, "Worker %s doesn't belong to this provisioner.", humanize.Clip(name))
		}
		if _, err := r.app.Store.ReleaseClaims(ctx, name, now); err != nil {
			return err
		}
	}
	return nil
}

// workerLetters is how many letters follow the prefix in a worker's name, so that no name begins another.
const workerLetters = 10

// NewWorkerName returns a name that no worker ever had.
func NewWorkerName(provisioner string) string {
	return execution.WorkerPrefix(provisioner) + strings.ToLower(rand.Text()[:workerLetters])
}

// ordersFor returns orders without tokens.
func ordersFor(p app.Provisioner) Orders {
	o := Orders{Drain: p.State == app.ProvisionerDraining, Workers: []WorkerOrder{}}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", p.State)
	if !o.Drain {
		for _, t := range p.Tenants {
			if !p.May(t.Tenant) {
				continue
			}
			fmt.Fprintf(h, "%q %d\n", t.Tenant, t.Slots)
			o.Workers = append(o.Workers, WorkerOrder{Tenant: t.Tenant, Slots: t.Slots})
		}
	}
	o.Version = hex.EncodeToString(h.Sum(nil)[:12])
	return o
}

func (r *registry) withTokens(ctx context.Context, p app.Provisioner, o Orders) (Orders, error) {
	if r.token == "" {
		return o, nil // within the process no one asks for one
	}
	for i := range o.Workers {
		token, err := r.app.workerToken(ctx, p.ID, o.Workers[i].Tenant)
		if err != nil {
			return Orders{}, err
		}
		o.Workers[i].Token = token
	}
	return o, nil
}

func (r *registry) Leave(ctx context.Context, id string) error {
	if _, err := r.own(ctx, id); err != nil {
		if app.CodeOf(err) == app.EStale {
			return nil
		}
		return err
	}
	return r.app.Store.EndProvisioner(ctx, id, app.ProvisionerLeft, r.app.Now())
}

func (a *Registries) workerToken(ctx context.Context, provisioner, tenant string) (string, error) {
	key, err := a.WorkerKeys.Get(ctx, a.Store)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(workerGrant{Provisioner: provisioner, Tenant: tenant, Expires: a.Now().Add(workerTokenTime).Unix()})
	if err != nil {
		return "", err
	}
	text := workerMark + base64.RawURLEncoding.EncodeToString(b)
	return text + "." + base64.RawURLEncoding.EncodeToString(app.Sign(key, text)), nil
}

// CoordinatorOfToken returns the worker's contract as the token of a worker allows it: for one tenant and the workers of one
// provisioner. EUnauthorized for anything else.
func (a *Registries) CoordinatorOfToken(ctx context.Context, token string) (execution.Coordinator, error) {
	key, err := a.WorkerKeys.Get(ctx, a.Store)
	if err != nil {
		return nil, err
	}
	text, signature, _ := strings.Cut(token, ".")
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, app.Sign(key, text)) {
		return nil, execution.ErrWorkerToken
	}
	var g workerGrant
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

// CoordinatorOf returns the same to workers inside this process.
func (a *Registries) CoordinatorOf(provisioner, tenant string) execution.Coordinator {
	return a.Executions.Grant(app.Provisioner{ID: provisioner}, tenant, true)
}

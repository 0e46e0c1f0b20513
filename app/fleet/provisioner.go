package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
)

// ProvisionerStore keeps provisioners and their tokens.
type ProvisionerStore interface {
	// BusyProvisioners is the same with how many steps run for each tenant. It looks through all steps that run.
	BusyProvisioners(ctx context.Context) ([]app.Provisioner, error)
	// CreateProvisionerToken keeps a token's hash; EConflict where the name is taken.
	CreateProvisionerToken(ctx context.Context, t ProvisionerToken, hash []byte) error
	// DrainProvisioners drains those alive of that name or id, and returns how many; ENotFound where there are none.
	DrainProvisioners(ctx context.Context, name, who string, now time.Time) (int, error)
	// ProvisionerSteps returns what the workers of a registration hold now, longest first.
	ProvisionerSteps(ctx context.Context, id string, most int) ([]ProvisionerStep, error)
	ProvisionerTokens(ctx context.Context) ([]ProvisionerToken, error)
	// RevokeProvisionerToken forgets a token and ends all that registered with it; ENotFound.
	RevokeProvisionerToken(ctx context.Context, name, who string, now time.Time) error
	Tenant(ctx context.Context, name string) (identity.Tenant, error)
}

// ProvisionersConfig is what Provisioners is created from. Only what says so may be nil.
type ProvisionersConfig struct {
	Store ProvisionerStore
	Now   func() time.Time
}

// Provisioners are what admins decide about provisioners and their tokens.
type Provisioners struct {
	ProvisionersConfig
}

// NewProvisioners returns them on top of what c holds.
func NewProvisioners(c ProvisionersConfig) *Provisioners { return &Provisioners{ProvisionersConfig: c} }

// CheckTags refuses tags that cannot be written as NAME=VALUE on a command line and read back.
func CheckTags(tags map[string]string) error {
	if len(tags) > app.MaxTags {
		return app.Errorf(app.ETooLarge, "A provisioner can have at most %d tags, not %d.", app.MaxTags, len(tags))
	}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		if !app.TagWord(k) || !app.TagWord(tags[k]) {
			return &app.Error{Code: app.EInvalid, Field: "tags", Message: "The tag " + humanize.Clip(k+"="+tags[k]) + " is invalid.",
				Hint: "A tag is KEY=VALUE. Both must have 1 to 63 letters, digits, '.', '_', '-' or '/'."}
		}
	}
	return nil
}

// ProvisionerToken lets provisioners register, and does nothing else. The token itself is nowhere.
type ProvisionerToken struct {
	Name      string    `json:"name"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	ProvisionerGrant
}

// Load is what a balance is decided from. Version changes with every change of provisioners and shares.
type Load struct {
	Version      int64
	Demands      []ProviderDemand
	Provisioners []app.Provisioner // alive, with the tenants they have
	Idle         map[string]map[string]time.Time
	Slots        map[string]int // of tenants that have a limit of their own
}

// ProviderDemand is what a tenant has to do at one provider.
type ProviderDemand struct {
	Tenant   string
	Provider string
	Steps    int           // queued and running
	Rest     time.Duration // to the end of that operation which is nearest to its end
}

// Share returns a tenant slots of a provisioner; 0 takes them away.
type Share struct {
	Provisioner string
	Tenant      string
	Slots       int
	IdleSince   time.Time // zero while the tenant has steps
}

// Registration is what a provisioner says of itself.
type Registration struct {
	Name    string            `json:"name"`
	Host    string            `json:"host"`
	Version string            `json:"version"`
	Tags    map[string]string `json:"tags,omitempty"`
	Slots   int               `json:"slots"`
}

// Registered is the answer.
type Registered struct {
	ID           string `json:"id"`
	Installation string `json:"installation"`
	// Plugins say which programs of plugins were registered or removed: see program.Pins. Orders bring newer ones.
	Plugins map[string]string `json:"plugins,omitempty"`
}

// Heartbeat is a provisioner's heartbeat.
type Heartbeat struct {
	ID       string   `json:"id"`
	Known    string   `json:"known"`              // Orders.Version that it acts by; "" for none
	Draining bool     `json:"draining,omitempty"` // it wants no (more) tenants
	Ended    []string `json:"ended,omitempty"`    // names of workers whose processes are gone for certain: their claims are free
	// Wait is how long the answer may be held back while there is nothing new in it.
	Wait time.Duration `json:"wait,omitempty"`
}

// Orders are what a provisioner is to do: one worker for each tenant, and none for others.
type Orders struct {
	Version string        `json:"version"`
	Drain   bool          `json:"drain,omitempty"` // end all workers in peace, then the process
	Workers []WorkerOrder `json:"workers"`
	// Plugins are as in Registered, for workers that start.
	Plugins map[string]string `json:"plugins,omitempty"`
}

// WorkerOrder is a tenant's worker. Token proves for a while who it works for, and is renewed with each heartbeat.
type WorkerOrder struct {
	Tenant string `json:"tenant"`
	Slots  int    `json:"slots"`
	Token  string `json:"token"`
}

// Registry is the contract between a provisioner and the server. EStale, reason "replaced": the registration has ended, since
// the provisioner was not heard of for too long; it drops what it has and registers again. EUnauthorized: the token was
// revoked.
type Registry interface {
	Register(ctx context.Context, r Registration) (Registered, error)
	Beat(ctx context.Context, b Heartbeat) (Orders, error)
	// Leave ends the registration. It may be called twice.
	Leave(ctx context.Context, id string) error
}

// Provisioners lists the provisioners, those alive first, with what they do.
func (a *Provisioners) Provisioners(ctx context.Context, actor app.Actor) ([]app.Provisioner, error) {
	if err := actor.Authorize("Provisioners"); err != nil {
		return nil, err
	}
	return a.Store.BusyProvisioners(ctx)
}

// MostProvisionerSteps is how many steps of a provisioner are listed.
const MostProvisionerSteps = 200

// ProvisionerStep is a step that a provisioner's worker runs.
type ProvisionerStep struct {
	Worker    string     `json:"worker"`
	Tenant    string     `json:"tenant"`
	Cluster   string     `json:"cluster"`
	Operation int64      `json:"operation"`
	Node      string     `json:"node,omitempty"`
	Action    app.Action `json:"action"`
	Service   string     `json:"service,omitempty"`
	StartedAt time.Time  `json:"started_at"`
}

// ProvisionerDetail is a provisioner with what its workers run.
type ProvisionerDetail struct {
	app.Provisioner
	Steps []ProvisionerStep `json:"steps"` // longest running first, at most MostProvisionerSteps
}

// Provisioner returns the provisioner with an ID, or the registered one with a name. ENotFound, or EConflict where several have the name.
func (a *Provisioners) Provisioner(ctx context.Context, actor app.Actor, id string) (ProvisionerDetail, error) {
	if err := actor.Authorize("Provisioner"); err != nil {
		return ProvisionerDetail{}, err
	}
	all, err := a.Store.BusyProvisioners(ctx)
	if err != nil {
		return ProvisionerDetail{}, err
	}
	p, err := provisionerOf(all, id)
	if err != nil {
		return ProvisionerDetail{}, err
	}
	steps, err := a.Store.ProvisionerSteps(ctx, p.ID, MostProvisionerSteps)
	return ProvisionerDetail{p, steps}, err
}

// provisionerOf finds a provisioner by its ID, or else by its name, where a registered one comes before those that have ended.
func provisionerOf(all []app.Provisioner, id string) (app.Provisioner, error) {
	var named, names []string
	var found app.Provisioner
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
		names = append(names, p.Name)
		if p.Name != id {
			continue
		}
		if found.ID == "" {
			found = p
		}
		if p.State.Alive() {
			named = append(named, p.ID)
		}
	}
	switch {
	case len(named) > 1:
		return found, &app.Error{Code: app.EConflict, Reason: "several", Message: humanize.Count(len(named),
			"provisioner") + " have the name " + humanize.Clip(id) + ".", Hint: "Use an ID: " + humanize.Or(named) + "."}
	case found.ID == "":
		return found, &app.Error{Code: app.ENotFound, Message: "Provisioner " + humanize.Clip(id) + " doesn't exist.", Hint: humanize.Suggest(id, names)}
	}
	return found, nil
}

// DrainProvisioner lets the provisioners of a name, or of an id, end what they have, and then themselves. It returns how many.
func (a *Provisioners) DrainProvisioner(ctx context.Context, actor app.Actor, name string) (int, error) {
	if err := actor.Authorize("DrainProvisioner"); err != nil {
		return 0, err
	}
	return a.Store.DrainProvisioners(ctx, name, actor.User, a.Now())
}

package build

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/template"
	"muster/app/webhook"
)

// HookStore keeps hooks with their secrets.
type HookStore interface {
	BuildHook(ctx context.Context, tenant string, name string) (BuildHook, error)
	// BuildHookAt returns the hook of an address with the secrets that count now, the newest first; ENotFound where there is none.
	BuildHookAt(ctx context.Context, id string, now time.Time) (h BuildHook, secrets []string, err error)
	BuildHooks(ctx context.Context, tenant string) ([]BuildHook, error)
	// DeleteBuildHook ends all builds of a hook with it.
	DeleteBuildHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	SaveBuildHook(ctx context.Context, who app.Actor, c BuildHookChange, now time.Time) (h BuildHook, made bool, err error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
}

// HooksConfig is what Hooks is created from. Only what says so may be nil.
type HooksConfig struct {
	Store      HookStore
	Now        func() time.Time
	BuildRules RuleEngine
	// Systems understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Systems  Systems
	Catalogs *catalog.Service
	Webhooks *webhook.Service
}

// Hooks are where build systems send what happens, with the rules about it.
type Hooks struct {
	HooksConfig
}

// NewHooks returns them on top of what c holds.
func NewHooks(c HooksConfig) *Hooks { return &Hooks{HooksConfig: c} }

// BuildHook is an address at which a build system tells of its builds, and what is to be done then. Its secret cannot be read again.
type BuildHook struct {
	ID     string `json:"id"`
	Tenant string `json:"-"`
	Name   string `json:"name"`
	System string `json:"system"`
	// Owner is the user as whom it acts, with that user's rights, groups and quota.
	Owner          string    `json:"owner"`
	Rules          []Rule    `json:"rules"`
	Enabled        bool      `json:"enabled"`
	Problem        string    `json:"problem,omitempty"` // it can do nothing now, such as that its owner is disabled
	SecretAt       time.Time `json:"secret_at"`
	OldSecretUntil time.Time `json:"old_secret_until,omitzero"` // until when the secret before counts too
	LastDeliveryAt time.Time `json:"last_delivery_at,omitzero"` // the latest delivery that was signed right
	RefusedAt      time.Time `json:"refused_at,omitzero"`
	Refused        string    `json:"refused,omitempty"` // why the latest one was refused that was not
	// Statuses says that commits show how the build's cluster is, written with a token of the hook at StatusAPI; "" is the system's own.
	Statuses  bool   `json:"statuses"`
	StatusAPI string `json:"status_api,omitempty"`
	Active    int    `json:"active_builds"` // builds that have a cluster, or wait for one
	// Warnings say of one hook what is allowed and still unwise; lists leave them out.
	Warnings  []string  `json:"warnings,omitempty"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`
	DeletedAt time.Time `json:"-"`
}

// BuildHookChange is a checked change, as the store takes it. What is nil or empty stays.
type BuildHookChange struct {
	Name, System string
	Owner        *string
	Rules        *[]Rule
	Enabled      *bool
	Secret       string  // "" leaves it
	StatusToken  *string // "" removes it
	StatusAPI    *string
	New          string // of a hook that is made by this, where Secret is empty
	ID           string // of a hook that is made by this
	TokenKey     []byte // likewise
}

// The limits of build hooks.
const (
	MaxBuildHooks        = 50 // of a tenant
	weakBuildSecret      = 16 // bytes: shorter ones are warned of
	maxBuildSecret       = 512
	DeliveryRetention    = 30 * 24 * time.Hour // how long builds that are over, and what made deliveries the same, are known
	DeliveryTime         = 7 * 24 * time.Hour  // how long deliveries are kept
	MaxDeliveriesPerHook = 1000                // deliveries of a hook that are kept
)

// BuildHookRequest makes or changes a build hook. What is nil or empty stays as it is; of a new hook it is the default.
type BuildHookRequest struct {
	Name    string  `json:"-"`
	System  string  `json:"system,omitempty"`
	Owner   *string `json:"owner,omitempty"`
	Rules   *[]Rule `json:"rules,omitempty"`
	Enabled *bool   `json:"enabled,omitempty"`
	Secret  string  `json:"secret,omitempty"`
	// StatusToken is what commit statuses are written with, at the API of GitHub or GitLab.
	StatusToken *string `json:"status_token,omitempty"`
	StatusAPI   *string `json:"status_api,omitempty"`
	Rotate      bool    `json:"rotate,omitempty"`
}

// SavedBuildHook is a build hook as it is after a change. Secret is the one that was made just now, "" where none was.
type SavedBuildHook struct {
	BuildHook
	Secret  string `json:"secret,omitempty"`
	Created bool   `json:"created"`
}

// BuildSystems lists the supported build systems.
func (a *Hooks) BuildSystems() []System {
	if a.Systems == nil {
		return nil
	}
	return a.Systems.Systems()
}

func (a *Hooks) buildSystem(name string) System {
	for _, s := range a.BuildSystems() {
		if s.Name == name {
			return s
		}
	}
	return System{}
}

// BuildHooks lists the build hooks of the tenant by name.
func (a *Hooks) BuildHooks(ctx context.Context, actor app.Actor) ([]BuildHook, error) {
	if err := actor.Authorize("BuildHooks"); err != nil {
		return nil, err
	}
	all, err := a.Store.BuildHooks(ctx, actor.Tenant)
	for i := range all {
		if _, all[i].Problem, err = a.buildOwner(ctx, all[i]); err != nil {
			return nil, err
		}
	}
	return all, err
}

// BuildHook returns one; ENotFound where there is none of the name.
func (a *Hooks) BuildHook(ctx context.Context, actor app.Actor, name string) (BuildHook, error) {
	if err := actor.Authorize("BuildHook"); err != nil {
		return BuildHook{}, err
	}
	h, err := a.Store.BuildHook(ctx, actor.Tenant, name)
	if err == nil {
		err = a.judgeBuildHook(ctx, &h)
	}
	return h, err
}

// judgeBuildHook says of a hook as it is now why it can do nothing, and what is unwise about it.
func (a *Hooks) judgeBuildHook(ctx context.Context, h *BuildHook) (err error) {
	if _, h.Problem, err = a.buildOwner(ctx, *h); err != nil {
		return err
	}
	_, secrets, err := a.Store.BuildHookAt(ctx, h.ID, a.Now())
	if err != nil {
		return err
	}
	h.Warnings = weakSecret(secrets[0])
	// Templates are deleted without a look at the rules that name them.
	err = a.checkBuildTemplates(ctx, h.Tenant, h.Rules)
	if app.CodeOf(err) == app.EInvalid {
		h.Warnings, err = append(h.Warnings, app.AsError(err).Message+". The hook's builds will fail."), nil
	}
	return err
}

// SaveBuildHook makes a build hook or changes the one of that name. EInvalid says which field is wrong, of rules with rule, line and
// column.
func (a *Hooks) SaveBuildHook(ctx context.Context, actor app.Actor, r BuildHookRequest) (SavedBuildHook, error) {
	if err := actor.Authorize("SaveBuildHook"); err != nil {
		return SavedBuildHook{}, err
	}
	was, err := a.Store.BuildHook(ctx, actor.Tenant, r.Name)
	fresh := app.CodeOf(err) == app.ENotFound
	if err != nil && !fresh {
		return SavedBuildHook{}, err
	}
	if fresh || r.Rotate || r.Secret != "" || r.StatusToken != nil {
		if err := actor.MustStepUp(); err != nil {
			return SavedBuildHook{}, err
		}
	}
	if fresh && r.Owner == nil && actor.Home == "" {
		r.Owner = &actor.User
	}
	c, err := a.CheckBuildHook(ctx, actor, r, was, fresh, a.Store.User)
	if err != nil {
		return SavedBuildHook{}, err
	}
	if r.Rules != nil {
		if err := a.checkBuildTemplates(ctx, actor.Tenant, *r.Rules); err != nil {
			return SavedBuildHook{}, err
		}
	}
	system := a.buildSystem(cmp.Or(was.System, c.System))
	c.New = newBuildSecret(system)
	if r.Rotate {
		c.Secret = c.New
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails: crypto/rand ends the process instead
	c.ID, c.TokenKey = hex.EncodeToString(id), make([]byte, 32)
	_, _ = rand.Read(c.TokenKey)
	h, made, err := a.Store.SaveBuildHook(ctx, actor, c, a.Now())
	if err != nil {
		return SavedBuildHook{}, err
	}
	if err := a.judgeBuildHook(ctx, &h); err != nil {
		return SavedBuildHook{}, err
	}
	saved := SavedBuildHook{BuildHook: h, Created: made}
	if r.Rotate || made && r.Secret == "" {
		saved.Secret = c.New
	}
	return saved, nil
}

// newBuildSecret makes one in the form that a build system takes.
func newBuildSecret(s System) string {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	if s.Standard {
		return webhook.HookSecretMark + base64.StdEncoding.EncodeToString(b)
	}
	return hex.EncodeToString(b)
}

// DeleteBuildHook ends a build hook: its address is not known any more, what waits is dropped, and the clusters of its builds are given
// back.
func (a *Hooks) DeleteBuildHook(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("DeleteBuildHook"); err != nil {
		return err
	}
	return a.Store.DeleteBuildHook(ctx, actor, name, a.Now())
}

func (a *Hooks) CheckBuildHook(ctx context.Context, actor app.Actor, r BuildHookRequest, was BuildHook, fresh bool, users findUser) (BuildHookChange, error) {
	c := BuildHookChange{Name: r.Name, System: r.System, Owner: r.Owner, Rules: r.Rules, Enabled: r.Enabled}
	wrong := func(field, message, hint string) (BuildHookChange, error) {
		return c, &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	if !template.HookName(r.Name) {
		return wrong("name", "Name must be 1 to 63 lowercase letters, digits, '-' or '_'.", "For example \"github-web\".")
	}
	var names []string
	for _, s := range a.BuildSystems() {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return c, &app.Error{Code: app.EConflict, Message: "This server has no build systems enabled.", Hint: "Ask the server's operator to enable one."}
	}
	system := cmp.Or(was.System, r.System)
	if !slices.Contains(names, system) {
		return wrong("system", fmt.Sprintf("Unknown build system %q.", humanize.Clip(system)), "Use "+humanize.Or(names)+".")
	}
	if !fresh && r.System != "" && r.System != was.System {
		return wrong("system", "A hook's build system can't be changed.", "Create another hook, and delete this one.")
	}
	s := a.buildSystem(system)
	if r.Owner != nil {
		*r.Owner = strings.TrimSpace(*r.Owner)
		if err := checkBuildOwner(ctx, actor, *r.Owner, users); err != nil {
			return c, err
		}
	} else if fresh {
		return wrong("owner", "Owner is required.", "Name a user of the tenant for the hook to act as.")
	}
	rules := was.Rules
	if r.Rules != nil {
		rules = *r.Rules
	}
	if err := a.checkBuildRules(rules); err != nil {
		return c, err
	}
	if r.Rules != nil {
		c.Rules = &rules
	}
	switch {
	case r.Secret != "" && r.Rotate:
		return wrong("secret", "A secret is either entered or generated, not both.", "")
	case r.Rotate && s.OwnSecret, r.Secret == "" && fresh && s.OwnSecret:
		return wrong("secret", s.Title+" generates the secret itself.", "Copy the secret from there.")
	case r.Secret == "":
	case s.Standard && (!s.Token || strings.HasPrefix(r.Secret, webhook.HookSecretMark)):
		if _, err := webhook.HookSecret(r.Secret); err != nil {
			return c, err
		}
	case len(r.Secret) > maxBuildSecret || strings.TrimSpace(r.Secret) != r.Secret || strings.ContainsFunc(r.Secret, unprintableButSpace):
		return wrong("secret", fmt.Sprintf("A secret must be at most %d bytes, with no line breaks and no spaces at either end.", maxBuildSecret), "Enter it as set in the build system, or leave it out to generate one.")
	}
	c.Secret = r.Secret
	return c, a.checkStatus(r, was, s, &c)
}

func unprintableButSpace(r rune) bool { return r != ' ' && webhook.Unprintable(r) }

// findUser returns an account of a tenant, or ENotFound.
type findUser func(ctx context.Context, tenant, name string) (identity.User, error)

// checkBuildOwner refuses owners that could not act, and those who may more than the one who names them.
func checkBuildOwner(ctx context.Context, actor app.Actor, name string, users findUser) error {
	wrong := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "owner", Message: message, Hint: hint}
	}
	u, err := users(ctx, actor.Tenant, name)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return wrong(fmt.Sprintf("User %q doesn't exist.", humanize.Clip(name)), "Name a user of the tenant, such as a robot account.")
	case err != nil:
		return err
	case u.Disabled():
		return wrong(fmt.Sprintf("User %s is disabled.", name), "Name another user.")
	case u.Actor().Authorize("Ask") != nil:
		return wrong(fmt.Sprintf("%s isn't allowed to create clusters.", name), "Name another user, such as a robot account.")
	case slices.Index(app.Roles, u.Role) < slices.Index(app.Roles, actor.Role):
		return &app.Error{Code: app.EForbidden, Field: "owner", Message: fmt.Sprintf("%s has more permissions than you.", name), Hint: "Name yourself, or a user with no more permissions than you."}
	}
	return nil
}

// buildOwner returns as whom a hook acts; why is set where it cannot.
func (a *Hooks) buildOwner(ctx context.Context, h BuildHook) (owner app.Actor, why string, err error) {
	u, err := a.Store.User(ctx, h.Tenant, h.Owner)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return owner, fmt.Sprintf("Its owner %s no longer exists.", h.Owner), nil
	case err != nil:
		return owner, "", err
	case u.Disabled():
		return owner, fmt.Sprintf("Its owner %s is disabled.", h.Owner), nil
	}
	owner = u.Actor()
	owner.Via, owner.Token = app.ViaHook, "build hook "+h.Name
	if owner.Authorize("Ask") != nil {
		return owner, fmt.Sprintf("Its owner %s is no longer allowed to create clusters.", h.Owner), nil //nolint:nilerr // the sentence is the result
	}
	return owner, "", nil
}

package settings

import (
	"context"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/idle"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/template"
	"muster/app/webhook"
	"muster/app/window"
)

// TenantSettingsStore keeps what is done together.
type TenantSettingsStore interface {
	// TenantMark returns a digest of all settings of a tenant: another one as soon as any of them is other than it was.
	TenantMark(ctx context.Context, tenant string) (string, error)
	// InTransaction carries out act where the tenant's mark is still that one, else it is EConflict, reason tenant_moved. What act changes
	// in this store by way of the context that it is given happens all at once, or, where act returns an error, not at all; what it reads
	// is as it was before. Act may be called more than once, and must not wait for anything but this store. Facts are for the audit.
	InTransaction(ctx context.Context, who app.Actor, mark string, at time.Time, facts any, act func(ctx context.Context) error) error
}

// TenantStore keeps what is said about a tenant itself.
type TenantStore interface {
	ChangeTenant(ctx context.Context, who app.Actor, name string, c identity.TenantChange, at time.Time) (identity.Tenant, error)
	DefaultIdlePolicy(ctx context.Context, tenant string) (*template.IdlePolicy, error)
	DefaultVisibility(ctx context.Context, tenant string) (app.Visibility, error)
	RequireSecondFactor(ctx context.Context, who app.Actor, required bool, at time.Time) error
	SetDefaultVisibility(ctx context.Context, who app.Actor, v app.Visibility, at time.Time) error
	SetTimeZone(ctx context.Context, who app.Actor, zone string, now time.Time) error
	Tenant(ctx context.Context, name string) (identity.Tenant, error)
	TimeZone(ctx context.Context, tenant string) (string, error)
	Windows(ctx context.Context, tenant, cluster string) (window.Kept, error)
}

// PeopleStore keeps users and groups.
type PeopleStore interface {
	AddUser(ctx context.Context, who app.Actor, u identity.User) error
	ChangeUser(ctx context.Context, who app.Actor, name string, c identity.UserChange, at time.Time) (identity.User, error)
	DeleteGroup(ctx context.Context, who app.Actor, name string, at time.Time) error
	DeleteUser(ctx context.Context, who app.Actor, name string, transferTo string, at time.Time) error
	Groups(ctx context.Context, tenant string) ([]identity.Group, error)
	SaveGroup(ctx context.Context, who app.Actor, c identity.GroupChange, at time.Time) (identity.Group, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
	Users(ctx context.Context, tenant string, f identity.UserFilter) (users []identity.User, more bool, err error)
}

// RuleStore keeps policies and quotas.
type RuleStore interface {
	DeletePolicy(ctx context.Context, name string, who app.Actor, now time.Time) error
	DeleteQuota(ctx context.Context, who app.Actor, scope policy.QuotaScope, name string, now time.Time) error
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	QuotaLimits(ctx context.Context, tenant string) ([]policy.Quota, error)
	SavePolicy(ctx context.Context, p policy.Policy, who app.Actor, now time.Time) (policy.Policy, error)
	SetQuota(ctx context.Context, who app.Actor, q policy.Quota) error
}

// IntegrationStore keeps what ties a tenant to other systems: webhooks, build hooks and secrets.
type IntegrationStore interface {
	BuildHooks(ctx context.Context, tenant string) ([]build.BuildHook, error)
	DeleteBuildHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	DeleteHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	DeleteSecret(ctx context.Context, who app.Actor, name string, at time.Time) error
	Hooks(ctx context.Context, tenant string) ([]webhook.Endpoint, error)
	SaveBuildHook(ctx context.Context, who app.Actor, c build.BuildHookChange, now time.Time) (h build.BuildHook, made bool, err error)
	SaveHook(ctx context.Context, who app.Actor, c webhook.EndpointChange, now time.Time) (h webhook.Endpoint, made bool, err error)
	Secrets(ctx context.Context, tenant string) ([]app.Secret, error)
	SetSecret(ctx context.Context, who app.Actor, name string, value []byte, at time.Time) error
}

// EntryStore keeps catalog entries, resources and pools.
type EntryStore interface {
	ChangePool(ctx context.Context, who app.Actor, p pool.Pool, act string, now time.Time) (pool.Pool, error)
	CreatePool(ctx context.Context, who app.Actor, p pool.Pool) (pool.Pool, error)
	TenantCatalog(ctx context.Context, tenant string) ([]catalog.Revision, int64, error)
	PoolViews(ctx context.Context, tenant string, today time.Time) ([]pool.View, error)
	ResourceInfo(ctx context.Context, tenant string, id resource.ID) (resource.Info, error)
	ResourceInfos(ctx context.Context, tenant string, f resource.Filter) ([]resource.Info, error)
	SaveTenantCatalog(ctx context.Context, who app.Actor, s catalog.TenantCatalogSave) (revision int64, err error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store        TenantSettingsStore
	Tenants      TenantStore
	People       PeopleStore
	Rules        RuleStore
	Integrations IntegrationStore
	Entries      EntryStore
	Now          func() time.Time
	BuildHooks   *build.Hooks
	Catalogs     *catalog.Service
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults   func(where string) error
	Hooks    *webhook.Service
	Idle     *idle.Service
	Policies *policy.Service
	Pools    *pool.Service
	Secrets  *secret.Service
	// TenantFiles reads and writes what a tenant's settings are kept in; nil: they are neither exported nor imported.
	TenantFiles TenantFiles
	Users       *identity.Users
	Windows     *window.Service
}

// Service exports and imports the settings of a tenant.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}

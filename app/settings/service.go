package settings

import (
	"context"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/webhook"
)

// Store is what the service needs of the database.
type Store interface {
	TenantSettingsStore

	// Of what others keep.
	AddUser(ctx context.Context, who app.Actor, u identity.User) error
	BuildHooks(ctx context.Context, tenant string) ([]build.BuildHook, error)
	ChangePool(ctx context.Context, who app.Actor, p pool.Pool, act string, now time.Time) (pool.Pool, error)
	ChangeTenant(ctx context.Context, who app.Actor, name string, c identity.TenantChange, at time.Time) (identity.Tenant, error)
	ChangeUser(ctx context.Context, who app.Actor, name string, c identity.UserChange, at time.Time) (identity.User, error)
	CreatePool(ctx context.Context, who app.Actor, p pool.Pool) (pool.Pool, error)
	DefaultVisibility(ctx context.Context, tenant string) (app.Visibility, error)
	DeleteBuildHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	DeleteGroup(ctx context.Context, who app.Actor, name string, at time.Time) error
	DeleteHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	DeletePolicy(ctx context.Context, name string, who app.Actor, now time.Time) error
	DeleteQuota(ctx context.Context, who app.Actor, scope policy.QuotaScope, name string, now time.Time) error
	DeleteSecret(ctx context.Context, who app.Actor, name string, at time.Time) error
	DeleteUser(ctx context.Context, who app.Actor, name string, transferTo string, at time.Time) error
	Groups(ctx context.Context, tenant string) ([]identity.Group, error)
	Hooks(ctx context.Context, tenant string) ([]webhook.Hook, error)
	OwnCatalog(ctx context.Context, tenant string) ([]catalog.CatalogRevision, int64, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	PoolViews(ctx context.Context, tenant string, today time.Time) ([]pool.PoolView, error)
	QuotaLimits(ctx context.Context, tenant string) ([]policy.Quota, error)
	RequireSecondFactor(ctx context.Context, who app.Actor, required bool, at time.Time) error
	ResourceInfo(ctx context.Context, tenant string, id resource.ResourceID) (resource.ResourceInfo, error)
	ResourceInfos(ctx context.Context, tenant string, f resource.ResourceFilter) ([]resource.ResourceInfo, error)
	SaveBuildHook(ctx context.Context, who app.Actor, c build.BuildHookChange, now time.Time) (h build.BuildHook, made bool, err error)
	SaveGroup(ctx context.Context, who app.Actor, c identity.GroupChange, at time.Time) (identity.Group, error)
	SaveHook(ctx context.Context, who app.Actor, c webhook.HookChange, now time.Time) (h webhook.Hook, made bool, err error)
	SaveOwnCatalog(ctx context.Context, who app.Actor, s catalog.OwnCatalogSave) (revision int64, err error)
	SavePolicy(ctx context.Context, p policy.Policy, who app.Actor, now time.Time) (policy.Policy, error)
	Secrets(ctx context.Context, tenant string) ([]app.Secret, error)
	SetDefaultVisibility(ctx context.Context, who app.Actor, v app.Visibility, at time.Time) error
	SetQuota(ctx context.Context, who app.Actor, q policy.Quota) error
	SetSecret(ctx context.Context, who app.Actor, name string, value []byte, at time.Time) error
	SetTimeZone(ctx context.Context, who app.Actor, zone string, now time.Time) error
	Tenant(ctx context.Context, name string) (identity.Tenant, error)
	TimeZone(ctx context.Context, tenant string) (string, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
	Users(ctx context.Context, tenant string, f identity.UserFilter) (users []identity.User, more bool, err error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error

	Catalogs   *catalog.Service
	Secrets    *secret.Service
	Users      *identity.Users
	Hooks      *webhook.Service
	Policies   *policy.Service
	Pools      *pool.Service
	BuildHooks *build.Hooks

	// TenantFiles reads and writes what a tenant's settings are kept in; nil: they are neither exported nor imported.
	TenantFiles TenantFiles
}

// Service exports and imports the settings of a tenant.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}

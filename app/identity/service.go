package identity

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
)

// Store is what the service needs of the database.
type Store interface {
	AuditStore
	GroupStore
	SignInStore
	TokenStore
	UserStore

	// Of what others keep.
	ChangeTenant(ctx context.Context, who app.Actor, name string, c TenantChange, at time.Time) (Tenant, error)
	CountUsers(ctx context.Context) (int, error)
	CreateTenant(ctx context.Context, who app.Actor, t Tenant, admin *User) error
	CreateUser(ctx context.Context, u User) error
	DeleteTenant(ctx context.Context, who app.Actor, name string, at time.Time) error
	ReplaceToken(ctx context.Context, who app.Actor, t Token, hash []byte) error
	SetPassword(ctx context.Context, who app.Actor, name string, hash string, at time.Time) error
	Tenant(ctx context.Context, name string) (Tenant, error)
	TenantNames(ctx context.Context) ([]string, error)
	Tenants(ctx context.Context) ([]Tenant, error)
	UsedToken(ctx context.Context, t Token, at time.Time, from string) error
	User(ctx context.Context, tenant string, name string) (User, error)
	UserOfToken(ctx context.Context, hash []byte) (User, Token, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time

	Catalogs *catalog.Service
}

// Service knows tenants, users, groups, tokens, sessions and how people sign in, and keeps the audit log.
type Service struct {
	Config

	WorkerKeys workerKey
	refused    refusals
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}

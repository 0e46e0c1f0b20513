package fleet

import (
	"context"
	"io"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/identity"
	"muster/app/secret"
	"muster/app/template"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	Accounts(ctx context.Context) ([]app.Account, error)
	AddProvisioner(ctx context.Context, p app.Provisioner) error
	BusyProvisioners(ctx context.Context) ([]app.Provisioner, error)
	CreateProvisionerToken(ctx context.Context, t ProvisionerToken, hash []byte) error
	DecideOrphan(ctx context.Context, tenant string, id string, d OrphanDecision, who app.Actor, now time.Time) (Orphan, error)
	DrainProvisioners(ctx context.Context, name string, who string, now time.Time) (int, error)
	EndProvisioner(ctx context.Context, id string, state app.ProvisionerState, now time.Time) error
	Installation(ctx context.Context) (string, error)
	Load(ctx context.Context) (Load, error)
	OrphanMode(ctx context.Context) (OrphanMode, error)
	Orphans(ctx context.Context, tenant string, gone bool) ([]Orphan, error)
	Proof(ctx context.Context, tenant string, cluster string) (Proof, error)
	Provisioner(ctx context.Context, id string) (app.Provisioner, error)
	ProvisionerTokenOf(ctx context.Context, hash []byte) (ProvisionerToken, error)
	ProvisionerTokens(ctx context.Context) ([]ProvisionerToken, error)
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
	ReleaseClaims(ctx context.Context, prefix string, now time.Time) (int, error)
	Resources(ctx context.Context, tenant string, cluster string) ([]Resource, error)
	RevokeProvisionerToken(ctx context.Context, name string, who string, now time.Time) error
	RoundsSoon(ctx context.Context, before time.Time) ([]execution.RoundDemand, error)
	SetOrphanMode(ctx context.Context, m OrphanMode, who app.Actor, now time.Time) error
	Share(ctx context.Context, version int64, shares []Share) (bool, error)
	Tenant(ctx context.Context, name string) (identity.Tenant, error)
	TouchProvisioner(ctx context.Context, id string, draining bool, now time.Time) (app.Provisioner, error)
	// WaitingByProvider counts the steps of operations under way, of all tenants, that ask a provider for something, and are ready
	// for it but not at work.
	WaitingByProvider(ctx context.Context) (map[string]int, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
	WorkerKey(ctx context.Context) ([]byte, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	// Accounts asks accounts what they would do; nil: they cannot be asked.
	Accounts cluster.Accounts
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog
	// Expose writes what was counted; nil: nothing is.
	Expose func(ctx context.Context, to io.Writer) error

	Catalogs   *catalog.Service
	Secrets    *secret.Service
	WorkerKeys *identity.WorkerKeys
	Clusters   *cluster.Finder
	Executions *execution.Service

	// What operators look at: how the server is set up, what calls went to accounts, and how many they take; nil: not known.
	Facts  func(context.Context) (ServerFacts, error)
	Calls  CallBook
	RateOf func(template.ProviderSpec) template.Rate
}

// Service knows provisioners, shares the work between them, and finds machines that nothing accounts for.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}

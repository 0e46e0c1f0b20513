package store

import (
	"context"

	"muster/app/all"
	"muster/app/store/build"
	"muster/app/store/catalog"
	"muster/app/store/chat"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/fleet"
	"muster/app/store/health"
	"muster/app/store/identity"
	"muster/app/store/operation"
	"muster/app/store/policy"
	"muster/app/store/resource"
	"muster/app/store/webhook"
)

// KeySize is the length of a key that is given to Open, in bytes.
const KeySize = db.KeySize

// The parts, under names by which they can be embedded side by side.
type (
	identityStore  = identity.Store
	policyStore    = policy.Store
	catalogStore   = catalog.Store
	resourceStore  = resource.Store
	chatStore      = chat.Store
	clusterStore   = cluster.Store
	healthStore    = health.Store
	buildStore     = build.Store
	operationStore = operation.Store
	webhookStore   = webhook.Store
	fleetStore     = fleet.Store
)

// Store implements app.Store on SQLite or PostgreSQL.
type Store struct {
	*db.DB
	*identityStore
	*policyStore
	*catalogStore
	*resourceStore
	*chatStore
	*clusterStore
	*healthStore
	*buildStore
	*operationStore
	*webhookStore
	*fleetStore
}

var _ all.Store = (*Store)(nil)

// Open is OpenWith for a key of KeySize bytes that we hold ourselves.
func Open(ctx context.Context, where string, key []byte) (*Store, error) {
	keeper, err := db.LocalKey(key)
	if err != nil {
		return nil, err
	}
	return OpenWith(ctx, where, keeper)
}

// OpenWith opens a database as db.Open does, with all that is kept in it. Close it.
func OpenWith(ctx context.Context, where string, keeper db.KeyKeeper) (*Store, error) {
	d, err := db.Open(ctx, where, keeper)
	if err != nil {
		return nil, err
	}
	clusters := cluster.New(d)
	return &Store{
		DB: d,
		identityStore: identity.New(d, identity.Parts{
			Ends:   []func(t *db.Tx, tenant string) error{build.DropOf, chat.DropOf, resource.DropOf, catalog.DropOf},
			Copies: []identity.TenantCopy{{What: "policies", Copy: policy.CopyPolicies}, {What: "quotas", Copy: policy.CopyQuotas}},
		}),
		policyStore:    policy.New(d),
		catalogStore:   catalog.New(d),
		resourceStore:  resource.New(d),
		chatStore:      chat.New(d),
		clusterStore:   clusters,
		healthStore:    health.New(d, clusters),
		buildStore:     build.New(d),
		operationStore: operation.New(d, clusters),
		webhookStore:   webhook.New(d),
		fleetStore:     fleet.New(d),
	}, nil
}

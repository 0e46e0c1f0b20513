package store

import (
	"context"
	"muster/app/store/activity"

	"muster/app/store/audit"
	"muster/app/store/build"
	"muster/app/store/catalog"
	"muster/app/store/chat"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/execution"
	"muster/app/store/feed"
	"muster/app/store/fleet"
	"muster/app/store/health"
	"muster/app/store/idempotency"
	"muster/app/store/identity"
	"muster/app/store/idle"
	"muster/app/store/image"
	"muster/app/store/lease"
	"muster/app/store/notification"
	"muster/app/store/operation"
	"muster/app/store/place"
	"muster/app/store/plugin"
	"muster/app/store/policy"
	"muster/app/store/pool"
	"muster/app/store/providervalue"
	"muster/app/store/quarantine"
	"muster/app/store/receipt"
	"muster/app/store/request"
	"muster/app/store/resource"
	"muster/app/store/run"
	"muster/app/store/scaling"
	"muster/app/store/secret"
	"muster/app/store/session"
	"muster/app/store/signin"
	"muster/app/store/terminal"
	"muster/app/store/token"
	"muster/app/store/tunnel"
	"muster/app/store/usage"
	"muster/app/store/user"
	"muster/app/store/volume"
	"muster/app/store/webhook"
	"muster/app/store/window"
)

// KeySize is the length of a key that is given to Open, in bytes.
const KeySize = db.KeySize

// The parts, lowest first, under names by which they can be embedded side by side.
type (
	auditStore       = audit.Store
	feedStore        = feed.Store
	idempotencyStore = idempotency.Store
	secretStore      = secret.Store
	userStore        = user.Store
	tokenStore       = token.Store
	sessionStore     = session.Store
	identityStore    = identity.Store
	signinStore      = signin.Store
	catalogStore     = catalog.Store
	policyStore      = policy.Store
	resourceStore    = resource.Store
	chatStore        = chat.Store
	clusterStore     = cluster.Store
	receiptStore     = receipt.Store
	idleStore        = idle.Store
	scalingStore     = scaling.Store
	leaseStore       = lease.Store
	usageStore       = usage.Store
	healthStore      = health.Store
	buildStore       = build.Store
	placeStore       = place.Store
	operationStore   = operation.Store
	executionStore   = execution.Store
	poolStore        = pool.Store
	imageStore       = image.Store
	quarantineStore  = quarantine.Store
	requestStore     = request.Store
	webhookStore     = webhook.Store
	fleetStore       = fleet.Store
	volumeStore      = volume.Store
	runStore         = run.Store
	windowStore      = window.Store
	inboxStore       = notification.Store
	pluginStore      = plugin.Store
	valueStore       = providervalue.Store
	tunnelStore      = tunnel.Store
	terminalStore    = terminal.Store
	activityStore    = activity.Store
)

// Store implements the stores of all domains on SQLite or PostgreSQL. Parts are embedded by value where no one calls them back by their
// address: by pointer, the compiler would write each of their methods twice, for Store and for *Store.
type Store struct {
	*db.DB
	auditStore
	feedStore
	idempotencyStore
	secretStore
	userStore
	tokenStore
	sessionStore
	identityStore
	signinStore
	catalogStore
	policyStore
	resourceStore
	chatStore
	clusterStore
	receiptStore
	idleStore
	scalingStore
	leaseStore
	usageStore
	healthStore
	buildStore
	placeStore
	operationStore
	*executionStore
	poolStore
	imageStore
	quarantineStore
	requestStore
	webhookStore
	fleetStore
	volumeStore
	runStore
	windowStore
	inboxStore
	pluginStore
	valueStore
	tunnelStore
	terminalStore
	activityStore
}

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
		DB:               d,
		auditStore:       *audit.New(d),
		feedStore:        *feed.New(d),
		idempotencyStore: *idempotency.New(d),
		secretStore:      *secret.New(d),
		userStore:        *user.New(d),
		tokenStore:       *token.New(d),
		sessionStore:     *session.New(d),
		identityStore: *identity.New(d, identity.Parts{
			Ends: []func(t *db.Tx, tenant string) error{build.DropOf, chat.DropOf, place.DropOf, resource.DropOf, catalog.DropOf, window.DropOf, scaling.Forget,
				providervalue.DropOf, image.DropOf, run.DropOf, terminal.DropOf},
			Copies: []identity.TenantCopy{{What: "policies", Copy: policy.CopyPolicies}, {What: "quotas", Copy: policy.CopyQuotas},
				{What: "maintenance", Copy: window.Copy}},
		}),
		signinStore:     *signin.New(d),
		catalogStore:    *catalog.New(d),
		policyStore:     *policy.New(d),
		resourceStore:   *resource.New(d),
		chatStore:       *chat.New(d),
		clusterStore:    *clusters,
		receiptStore:    *receipt.New(d),
		idleStore:       *idle.New(d),
		scalingStore:    *scaling.New(d),
		leaseStore:      *lease.New(d),
		usageStore:      *usage.New(d),
		healthStore:     *health.New(d, clusters),
		buildStore:      *build.New(d),
		placeStore:      *place.New(d),
		operationStore:  *operation.New(d, clusters),
		executionStore:  execution.New(d, clusters),
		poolStore:       *pool.New(d),
		imageStore:      *image.New(d),
		quarantineStore: *quarantine.New(d),
		requestStore:    *request.New(d),
		webhookStore:    *webhook.New(d),
		fleetStore:      *fleet.New(d),
		runStore:        *run.New(d),
		windowStore:     *window.New(d),
		inboxStore:      *notification.New(d),
		pluginStore:     *plugin.New(d),
		volumeStore:     *volume.New(d),
		valueStore:      *providervalue.New(d),
		tunnelStore:     *tunnel.New(d),
		terminalStore:   *terminal.New(d),
		activityStore:   *activity.New(d),
	}, nil
}

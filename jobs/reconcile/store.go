package reconcile

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/fleet"
)

// AccountStore keeps how several servers take turns at accounts, and what they found in them.
type AccountStore interface {
	HoldAccount(ctx context.Context, provider, holder string, now time.Time, hold time.Duration) (bool, error)
	EndPass(ctx context.Context, holder string, a app.Account) error
	Accounts(ctx context.Context) ([]app.Account, error)
	OrphanMode(ctx context.Context) (fleet.OrphanMode, error)
	OrderedAccounts(ctx context.Context) ([]string, error)
}

// OrphanStore keeps machines that belong to no cluster.
type OrphanStore interface {
	SeeOrphans(ctx context.Context, provider string, now time.Time, seen []fleet.Orphan) ([]fleet.Orphan, error)
	OrphanDeleted(ctx context.Context, id string, now time.Time, failure string) error
	IntentsOf(ctx context.Context, provider string) (map[string]app.LiveIntent, error)
	IntentKnown(ctx context.Context, provider, intent string) (ended, known bool, err error)
	NoteResources(ctx context.Context, provider, intent string, at time.Time, seen []app.Seen) error
}

// ClusterStore keeps what clusters should have, and what happened to their machines.
type ClusterStore interface {
	ClustersChanged(ctx context.Context, after int64) (clusters []string, latest int64, err error)
	ExpectedMachines(ctx context.Context, provider, tenant string, clusters []string, f func(fleet.ExpectedMachine) error) error
	ComparedClusters(ctx context.Context, clusters []string) ([]fleet.ComparedCluster, error)
	MarkNodes(ctx context.Context, tenant, cluster string, lost, found []string, now time.Time) (newly int, err error)
	MarkFound(ctx context.Context, tenant, cluster string, now time.Time) error
	MarkLost(ctx context.Context, tenant, cluster, message string, now time.Time) error
	Operations(ctx context.Context, tenant, cluster string) ([]app.Operation, error)
	Definition(ctx context.Context, tenant, cluster string) (appcluster.Definition, error)
	Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error)
	Resources(ctx context.Context, tenant, cluster string) ([]fleet.CloudResource, error)
}

// InterruptionStore keeps which machines their provider takes away.
type InterruptionStore interface {
	MarkInterrupted(ctx context.Context, tenant, cluster string, all []fleet.Interruption, now time.Time) (newly []string, err error)
}

// ProofStore keeps proofs that nothing is left of deleted clusters.
type ProofStore interface {
	Unproven(ctx context.Context, limit int) ([]app.Cluster, error)
	SetProof(ctx context.Context, tenant, cluster string, p fleet.Proof, asked time.Time) error
	AssignedIntents(ctx context.Context, clusters []string) (map[string]string, error)
}

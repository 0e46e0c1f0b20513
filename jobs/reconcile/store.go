package reconcile

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/fleet"
	"muster/app/volume"
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

// VolumeStore keeps volumes, and which of them are to be deleted.
type VolumeStore interface {
	// DueVolumes returns the volumes that are to be deleted, and kept ones that have expired, of all tenants.
	DueVolumes(ctx context.Context, now time.Time, limit int) ([]volume.Volume, error)
	// ExpireVolume has an expired volume deleted; false where it isn't kept any more, or for longer.
	ExpireVolume(ctx context.Context, id string, now time.Time) (bool, error)
	// NotifyExpiring notifies the owners of kept volumes that expire soon, once.
	NotifyExpiring(ctx context.Context, now time.Time, limit int) error
	// VolumeGone ends a volume that is proven to be gone, or keeps why it couldn't be deleted.
	VolumeGone(ctx context.Context, id string, now time.Time, proof, failure string) error
	// VolumeIntents returns, by id, the volumes of a provider's name that are known, whatever their state.
	VolumeIntents(ctx context.Context, provider string, ids []string) (map[string]volume.Volume, error)
}

// SnapshotStore keeps snapshots of volumes, and which of them are to be created or deleted.
type SnapshotStore interface {
	// ScheduleSnapshots writes down the snapshots that are due by schedule, and has those deleted whose time is over.
	ScheduleSnapshots(ctx context.Context, now time.Time, limit int) error
	DueSnapshots(ctx context.Context, limit int) ([]volume.Snapshot, error)
	// SnapshotMade writes what came of a creation: the provider's ID, or why there is none yet. False where the snapshot
	// isn't to be created any more: then nothing was written.
	SnapshotMade(ctx context.Context, id, external, failure string) (bool, error)
	// SnapshotLooked notes that a snapshot isn't complete yet, so that others have their turn first.
	SnapshotLooked(ctx context.Context, id string) error
	// SnapshotGone ends one that is proven to be gone, or keeps why it couldn't be deleted.
	SnapshotGone(ctx context.Context, id string, now time.Time, proof, failure string) error
	// SnapshotIntents returns, by id, the snapshots of these ids that are known, whatever their state.
	SnapshotIntents(ctx context.Context, provider string, ids []string) (map[string]volume.Snapshot, error)
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

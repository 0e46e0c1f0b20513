package volume

import (
	"context"
	"time"

	"muster/app/template"
)

// State is the state of a volume in one word.
type State string

// The states.
const (
	StatePlanned  State = "planned"  // its node's attach step creates it
	StateAttached State = "attached" // a machine has it
	StateDetached State = "detached" // it belongs to a node that has no machine now
	StateKept     State = "kept"     // it belongs to no cluster
	StateDeleting State = "deleting" // the reconciler deletes it
	StateDeleted  State = "deleted"  // the provider doesn't list it any more
)

// Volume is a volume. Cluster and Node are whom it belongs to; both are "" of a kept one.
type Volume struct {
	ID         string                `json:"id"`
	Tenant     string                `json:"-"`
	Provider   string                `json:"provider"`
	Cluster    string                `json:"cluster,omitempty"`
	Node       string                `json:"node,omitempty"`
	Service    string                `json:"service"`
	Name       string                `json:"name"`
	From       string                `json:"from_cluster,omitempty"` // of a kept one, or one that was: the cluster before
	Owner      string                `json:"owner"`
	SizeGB     int                   `json:"size_gb"`
	Filesystem string                `json:"filesystem"`
	Mount      string                `json:"mount"`
	External   string                `json:"provider_id,omitempty"` // the provider's own
	Zone       string                `json:"zone,omitempty"`
	Machine    string                `json:"machine,omitempty"` // that has it
	State      State                 `json:"state"`
	OnDelete   template.VolumeChoice `json:"on_delete"`
	Price      float64               `json:"cost_per_hour"` // 0: not known
	Currency   string                `json:"currency,omitempty"`
	CreatedAt  time.Time             `json:"created_at"`
	MountedAt  time.Time             `json:"mounted_at,omitzero"` // for the first time: it is never formatted after that
	KeptAt     time.Time             `json:"kept_at,omitzero"`
	ExpiresAt  time.Time             `json:"expires_at,omitzero"` // of a kept one; zero: never
	DeletedAt  time.Time             `json:"deleted_at,omitzero"`
	// Snapshots are made by schedule; the next one at NextSnapshot, or later where no machine uses the volume.
	Snapshots    template.Snapshots `json:"snapshots,omitzero"`
	NextSnapshot time.Time          `json:"next_snapshot_at,omitzero"`
	Proof        string             `json:"proof,omitempty"` // that it is gone
	Error        string             `json:"error,omitempty"` // why it couldn't be deleted
}

// HoursOfMonth is what a month has of the price for a month.
const HoursOfMonth = 730

// ExpiryNotice is how long before a kept volume expires its owner is notified.
const ExpiryNotice = 3 * 24 * time.Hour

// KeepFor is how long a volume is kept where no one says otherwise.
const KeepFor = 30 * 24 * time.Hour

// ForStep is a volume as a step gets it.
type ForStep struct {
	Volume
	Asked    bool   // an attempt before may have asked the provider to create it
	Snapshot string // the provider's ID of the snapshot that it is made of, "" for an empty one
	Discard  bool   // its node goes, and it goes with it
	// NodeStays says that the operation deletes no machine of the node. A detach step is then about the volumes of services that the node doesn't run any more.
	NodeStays bool
}

// Wanted is what an attach step needs: the volumes that the services of a node declare. Those that are missing are written down before anyone asks
// the provider for them.
type Wanted struct {
	Tenant, Provider, Cluster, Node string
	Owner                           string
	Volumes                         []template.NodeVolume
	CostPerGBHour                   float64
	SnapshotPerGBHour               float64 // price of snapshots of them
	Now                             time.Time
}

// Seen is what a step found out about a volume.
type Seen struct {
	ID       string `json:"id"`
	External string `json:"provider_id,omitempty"`
	Zone     string `json:"zone,omitempty"`
	SizeGB   int    `json:"size_gb,omitempty"`
	Machine  string `json:"machine,omitempty"` // "" where none has it
	Mounted  bool   `json:"mounted,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"`
	Proof    string `json:"proof,omitempty"`
}

// StepStore keeps the volumes of nodes for steps. What steps find out is written as they end.
type StepStore interface {
	// HasVolumes reports whether a cluster has volumes.
	HasVolumes(ctx context.Context, tenant, cluster string) (bool, error)
	// NodeVolumes returns a node's volumes. For a step that returns the node's machine they say what goes with it: nothing where the
	// operation makes the machine again.
	NodeVolumes(ctx context.Context, tenant, cluster, node string, operation int64) ([]ForStep, error)
	// KeptVolumes returns the kept volumes that a node has had, the latest first: WantVolumes takes them back.
	KeptVolumes(ctx context.Context, tenant, cluster, node string) ([]Volume, error)
	// WantVolumes returns the volumes that a node needs, in the order of w. Missing ones are written down: an own one that was kept comes first.
	WantVolumes(ctx context.Context, w Wanted) ([]ForStep, error)
}

// StateForgotten is of a volume that was lost at its provider, as someone said. Should it still be there, a person decides.
const StateForgotten State = "forgotten"

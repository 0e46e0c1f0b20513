package family

import (
	"context"
	"time"
)

// VolumeSnapshots is a provider with Volumes that can copy one as it is at a moment, also while a machine has it. Copies outlive their volume. All
// methods may be called again at any time.
type VolumeSnapshots interface {
	// CreateSnapshot makes one snapshot for spec.Intent, or returns the one that an earlier call with the same intent
	// made. It is Pending where the cloud still copies after a while: the next call tells how that went. One that the
	// cloud failed to copy is deleted and made again. ENotFound where the volume doesn't exist.
	CreateSnapshot(ctx context.Context, spec SnapshotSpec) (Snapshot, error)
	// ListSnapshots returns every snapshot that carries all of the tags; none is an empty list and no error.
	ListSnapshots(ctx context.Context, tags map[string]string) ([]Snapshot, error)
	// DeleteSnapshot deletes a snapshot. An absent one is success.
	DeleteSnapshot(ctx context.Context, id string) error
	// CreateVolumeFrom is CreateVolume, with the content of a snapshot, and at least of its size. ENotFound where that
	// doesn't exist, ETransient while it is Pending, EConflict where it is Failed.
	CreateVolumeFrom(ctx context.Context, spec VolumeSpec, snapshot string) (Volume, error)
}

// SnapshotSpec is the snapshot that is wanted.
type SnapshotSpec struct {
	Intent string // one per snapshot ever wanted; the key of idempotency
	Name   string // for people, unique: letters, digits and hyphens
	Volume string // the provider's ID
	Tags   map[string]string
}

// Snapshot is what a provider knows of a snapshot.
type Snapshot struct {
	ID        string
	SizeGB    int  // least of a volume that is made of it
	Pending   bool // the cloud still copies it: no volume can be made of it yet
	Failed    bool // the cloud couldn't copy it
	Tags      map[string]string
	CreatedAt time.Time `json:",omitzero"` // by the cloud's own clock; zero where it does not say
}

package family

import (
	"context"
	"time"

	"muster/app"
)

// Volumes is a Provider that makes disks with a life of their own. Without it, clusters whose services need volumes are refused.
//
// A volume is attached to one machine at most. Who deletes a machine leaves its volumes, detached: the machine's end is one of the ways in which
// they are detached. All methods may be called again at any time; where an answer was unclear, ListVolumes by the intent's tag tells the outcome
// of the call.
//
// Where Descriptor.VolumesAtCreation is set, machines have the volumes of MachineSpec.Volumes and no others: AttachVolume then only tells whether the
// machine has it, EConflict with ReasonVolumeAtCreation where it doesn't, and DetachVolume returns ErrVolumeAttached until the machine is deleted.
type Volumes interface {
	// CreateVolume makes one volume for spec.Intent, or returns the one that an earlier call with the same intent made. After an error it may
	// or may not exist.
	CreateVolume(ctx context.Context, spec VolumeSpec) (Volume, error)
	// ListVolumes returns every volume that carries all of the tags; none is an empty list and no error.
	ListVolumes(ctx context.Context, tags map[string]string) ([]Volume, error)
	// AttachVolume has the machine see the volume, and returns when it does. One that is attached to that machine is success. EConflict, reason
	// ReasonVolumeAttached, where it is attached to another one, which keeps it; ENotFound where either does not exist.
	AttachVolume(ctx context.Context, at VolumeAttachment) (Volume, error)
	// DetachVolume takes a volume from whatever machine has it, and returns when none does. One that is not attached, or absent, is success.
	DetachVolume(ctx context.Context, id string) error
	// DeleteVolume deletes a volume with all that is on it, and returns when it is gone or sure to go. EConflict, reason ReasonVolumeAttached,
	// where a machine has it. An absent one is success.
	DeleteVolume(ctx context.Context, id string) error
}

// ReasonVolumeAttached marks the refusal of what can only be done to a volume that no other machine has.
const ReasonVolumeAttached = "volume_attached"

// ReasonVolumeAtCreation marks the refusal to attach a volume to a machine that can only be created with it, or to take one from it.
const ReasonVolumeAtCreation = "volume_at_creation"

// ErrVolumeAttached refuses to attach or delete a volume that a machine has.
func ErrVolumeAttached(volume, machine string) *app.Error {
	e := app.Errorf(app.EConflict, "volume %s is attached to machine %s", volume, machine)
	e.Reason, e.Hint = ReasonVolumeAttached, "Detach it first."
	return e
}

// VolumeSpec is the volume that is wanted.
type VolumeSpec struct {
	Intent string            // one per volume ever wanted; the key of idempotency
	Name   string            // for people, unique: letters, digits and hyphens
	SizeGB int               // at least; a cloud may make a larger one
	Zone   string            // of the machine that it is for, by the provider's name; "" where that has none
	Tags   map[string]string // at least the five tags of machines
}

// Volume is what a provider knows of a volume.
type Volume struct {
	ID        string
	Name      string
	SizeGB    int
	Zone      string // only machines of this zone can have it; "" for any
	Machine   string // that has it, "" for none
	Device    string // after AttachVolume: the block device on the machine, such as /dev/disk/by-id/…
	Path      string // after AttachVolume, instead of Device: where on the machine its files are already
	Tags      map[string]string
	Failed    bool      // the cloud couldn't create it, or has damaged it: no machine can have it
	CreatedAt time.Time `json:",omitzero"` // by the cloud's own clock; zero where it does not say
}

// VolumeAttachment says which volume goes to which machine. Mount is where its files are wanted, for providers that put them there themselves.
type VolumeAttachment struct {
	Volume  string
	Machine string
	Mount   string
}

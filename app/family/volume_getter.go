package family

import "context"

// VolumeGetter is a provider with Volumes that tells of one without listing all of them.
type VolumeGetter interface {
	// Volume returns the volume with an ID as it is now. ENotFound where there is none.
	Volume(ctx context.Context, id string) (Volume, error)
}

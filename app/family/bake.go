package family

import (
	"context"
	"time"
)

// Baker is a Provider that can make an image of a machine, from which others start with the files that it had. Without it, every machine starts from the
// images of the catalog.
type Baker interface {
	// Bake makes an image of a machine that carries spec's tags, or returns the one that an earlier call with the same TagBake made. It returns as soon as the
	// image exists; it need not be ready. The machine may be stopped for it, or started again. A machine that is not there is ENotFound; one that no image
	// can be made of is EInvalid.
	Bake(ctx context.Context, machine string, spec BakeSpec) (BakedImage, error)
	// BakedImages lists images that carry all of the tags.
	BakedImages(ctx context.Context, tags map[string]string) ([]BakedImage, error)
	// DeleteBaked removes an image with all that was made for it. An absent one is success; one that can't go yet, since machines use it, is ETransient.
	DeleteBaked(ctx context.Context, id string) error
}

// BakeSpec is the image that is wanted. Tags have at least TagInstallation, TagTenant and TagBake, which is the key of idempotency.
type BakeSpec struct {
	Name string // for people, of letters, digits and '-'
	Tags map[string]string
}

// BakedImage is an image that Muster has made. ID is what MachineSpec.Image.Image holds for a machine that starts from it.
type BakedImage struct {
	ID        string
	Ready     bool
	Failed    string // why it will never be ready; "" otherwise
	Tags      map[string]string
	CreatedAt time.Time
}

// TagBake names a baked image. No machine carries it.
const TagBake = "muster-bake"

package fake

import (
	"context"

	"muster/app/family"
	"muster/app/template"
)

// offered is what a fake cloud says that it has, so that forms and pages can be tried. It makes machines of any flavor and image.
var offered = family.Offers{
	Zones:    []string{"a", "b", "c"},
	Currency: "USD",
	Flavors: []family.FlavorOffer{
		{Flavor: template.Flavor{Flavor: "gpu", CPU: 8, MemoryGB: 32, DiskGB: 160, GPUs: 1, GPU: "nvidia-l4", CostPerHour: 0.7}},
		{Flavor: template.Flavor{Flavor: "large", CPU: 8, MemoryGB: 32, DiskGB: 160, CostPerHour: 0.24}},
		{Flavor: template.Flavor{Flavor: "medium", CPU: 4, MemoryGB: 8, DiskGB: 80, CostPerHour: 0.08}},
		{Flavor: template.Flavor{Flavor: "small", CPU: 2, MemoryGB: 4, DiskGB: 40, CostPerHour: 0.04}},
	},
	Images: []family.ImageOffer{
		{Image: template.Image{Image: "debian-12", SSHUser: "root"}, Description: "Debian 12 (bookworm)"},
		{Image: template.Image{Image: "host", SSHUser: "root"}, Description: "The host's own system"},
	},
}

var (
	_ family.Offerer = (*Cloud)(nil)
	_ family.Offerer = (*client)(nil)
)

// Offers implements family.Offerer. It is the same for every account.
func (c *Cloud) Offers(ctx context.Context) (family.Offers, error) { return offered, ctx.Err() }

func (c *client) Offers(ctx context.Context) (family.Offers, error) { return offered, ctx.Err() }

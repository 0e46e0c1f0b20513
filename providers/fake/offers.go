package fake

import (
	"context"

	"muster/app"
)

// offered is what a fake cloud says that it has, so that forms and pages can be tried. It makes machines of any flavor and image.
var offered = app.Offers{
	Zones:    []string{"a", "b", "c"},
	Currency: "USD",
	Flavors: []app.FlavorOffer{
		{Flavor: app.Flavor{Flavor: "large", CPU: 8, MemoryGB: 32, DiskGB: 160, CostPerHour: 0.24}},
		{Flavor: app.Flavor{Flavor: "medium", CPU: 4, MemoryGB: 8, DiskGB: 80, CostPerHour: 0.08}},
		{Flavor: app.Flavor{Flavor: "small", CPU: 2, MemoryGB: 4, DiskGB: 40, CostPerHour: 0.04}},
	},
	Images: []app.ImageOffer{
		{Image: app.Image{Image: "debian-12", SSHUser: "root"}, Description: "Debian 12 (bookworm)"},
		{Image: app.Image{Image: "host", SSHUser: "root"}, Description: "What the host is"},
	},
}

var (
	_ app.Offerer = (*Cloud)(nil)
	_ app.Offerer = (*client)(nil)
)

// Offers implements app.Offerer. It is the same for every account.
func (c *Cloud) Offers(ctx context.Context) (app.Offers, error) { return offered, ctx.Err() }

// Offers implements app.Offerer.
func (c *client) Offers(ctx context.Context) (app.Offers, error) { return offered, ctx.Err() }

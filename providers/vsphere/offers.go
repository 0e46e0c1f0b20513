package vsphere

import (
	"context"
	"fmt"
	"time"

	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// usualSizes are some of the sizes that machines can have: vSphere has no list of its own. They are in the order of their names.
var usualSizes = []string{"16x64", "1x1", "1x2", "2x2", "2x4", "2x8", "4x16", "4x8", "8x16", "8x32"}

// Offers returns the datacenter's compute clusters and templates.
func (c *cloud) Offers(ctx context.Context) (out family.Offers, err error) {
	s, err := c.readSite(ctx)
	if err != nil {
		return out, err
	}
	out.Zones = sorted(s.clusters)
	for _, name := range usualSizes {
		z, err := readSize(name)
		if err != nil {
			return out, err
		}
		out.Flavors = append(out.Flavors, family.FlavorOffer{Flavor: template.Flavor{Flavor: name, CPU: float64(z.cpus), MemoryGB: float64(z.memoryMB) / mebibytes},
			Description: fmt.Sprintf("%s, %d GiB; any other size can be written the same way", humanize.Count(z.cpus, "vCPU"), z.memoryMB/mebibytes)})
	}
	images, err := c.templates(ctx, s)
	if err != nil {
		return out, err
	}
	for _, name := range sorted(images) {
		o := images[name]
		out.Images = append(out.Images, family.ImageOffer{Image: template.Image{Image: name}, Description: prop[string](o, "config.guestFullName"),
			CreatedAt: prop[time.Time](o, "config.createDate")})
	}
	return out, nil
}

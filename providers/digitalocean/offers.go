package digitalocean

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"muster/app/family"
	"muster/app/template"
)

// Offers returns the regions and sizes that are available now, and the images of DigitalOcean and of the account.
func (c *cloud) Offers(ctx context.Context) (family.Offers, error) {
	out := family.Offers{Currency: "USD"}
	regions, err := pages(ctx, "regions:read", c.api.Regions.List)
	if err != nil {
		return out, err
	}
	for _, r := range regions {
		if r.Available {
			out.Zones = append(out.Zones, r.Slug)
		}
	}
	slices.Sort(out.Zones)
	sizes, err := pages(ctx, "sizes:read", c.api.Sizes.List)
	if err != nil {
		return out, err
	}
	for _, s := range sizes {
		if s.Available && len(s.Regions) > 0 {
			out.Flavors = append(out.Flavors, flavorOffer(s))
		}
	}
	slices.SortFunc(out.Flavors, func(a, b family.FlavorOffer) int { return cmp.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	for _, list := range []func(context.Context, *godo.ListOptions) ([]godo.Image, *godo.Response, error){c.api.Images.ListDistribution, c.api.Images.ListUser} {
		images, err := pages(ctx, "image:read", list)
		if err != nil {
			return out, err
		}
		for _, i := range images {
			if readBaked(i.Name) != nil {
				continue
			}
			if i.Status == "" || i.Status == "available" {
				out.Images = append(out.Images, imageOffer(i))
			}
		}
	}
	slices.SortFunc(out.Images, func(a, b family.ImageOffer) int { return cmp.Compare(a.Image.Image, b.Image.Image) })
	return out, nil
}

func flavorOffer(s godo.Size) family.FlavorOffer {
	zones := slices.Sorted(slices.Values(s.Regions))
	offer := family.FlavorOffer{
		Flavor: template.Flavor{Flavor: s.Slug, CostPerHour: s.PriceHourly, CPU: float64(s.Vcpus), MemoryGB: float64(s.Memory) / 1024, DiskGB: float64(s.Disk)},
		Zones:  zones, Description: s.Description,
	}
	if s.GPUInfo != nil {
		offer.GPUs, offer.GPU = s.GPUInfo.Count, strings.ReplaceAll(s.GPUInfo.Model, "_", "-")
	}
	return offer
}

func imageOffer(i godo.Image) family.ImageOffer {
	name := i.Slug
	if name == "" { // an image of one's own
		name = strconv.Itoa(i.ID)
	}
	o := family.ImageOffer{Image: template.Image{Image: name}, Description: strings.TrimSpace(i.Distribution + " " + i.Name)}
	if at, err := time.Parse(time.RFC3339, i.Created); err == nil {
		o.CreatedAt = at
	}
	return o
}

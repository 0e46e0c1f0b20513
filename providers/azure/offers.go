package azure

import (
	"context"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"muster/app/family"
	"muster/app/template"
)

// offered are images of Azure's publishers that run cloud-init; others can be named all the same.
var offered = []struct{ urn, about string }{
	{"Canonical:0001-com-ubuntu-server-jammy:22_04-lts-gen2:latest", "Ubuntu 22.04 LTS (x86_64)"},
	{"Canonical:ubuntu-24_04-lts:server-arm64:latest", "Ubuntu 24.04 LTS (arm64)"},
	{"Canonical:ubuntu-24_04-lts:server:latest", "Ubuntu 24.04 LTS (x86_64)"},
	{"Debian:debian-12:12-arm64:latest", "Debian 12 (arm64)"},
	{"Debian:debian-12:12-gen2:latest", "Debian 12 (x86_64)"},
	{"Debian:debian-13:13-gen2:latest", "Debian 13 (x86_64)"},
	{"RedHat:RHEL:9-lvm-gen2:latest", "Red Hat Enterprise Linux 9 (x86_64)"},
}

// Offers returns the sizes that the subscription can have in the location, its zones, and images: some of Azure's publishers, and the resource group's own.
// Prices are on another site. Offers without them are better than none, so it isn't an error if that site can't be reached.
func (g *group) Offers(ctx context.Context) (family.Offers, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices := make(chan map[string]*meter, 1)
	go func() {
		found, _ := g.retailPrices(ctx)
		prices <- found
	}()
	sizes, err := g.readSizes(ctx)
	if err != nil {
		return family.Offers{}, err
	}
	var out family.Offers
	known := <-prices
	for name, size := range sizes {
		zones, barred := zonesOf(size)
		if barred {
			continue
		}
		for i, z := range zones {
			zones[i] = g.location + "-" + z
			if !slices.Contains(out.Zones, zones[i]) {
				out.Zones = append(out.Zones, zones[i])
			}
		}
		f := family.FlavorOffer{Flavor: template.Flavor{Flavor: value(size.Name), CPU: amount(size, "vCPUs"), MemoryGB: amount(size, "MemoryGB"),
			GPUs: int(amount(size, "GPUs"))}, Description: strings.TrimSuffix(strings.TrimPrefix(value(size.Family), "standard"), "Family"), Zones: zones}
		if m := known[name]; m != nil {
			f.CostPerHour, out.Currency = m.Price, "USD"
		}
		out.Flavors = append(out.Flavors, f)
	}
	slices.Sort(out.Zones)
	slices.SortFunc(out.Flavors, func(a, b family.FlavorOffer) int { return strings.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	for _, o := range offered {
		out.Images = append(out.Images, family.ImageOffer{Image: template.Image{Image: o.urn}, Description: o.about})
	}
	err = pages(ctx, g.own.NewListByResourceGroupPager(g.group, nil), func(page armcompute.ImagesClientListByResourceGroupResponse) {
		for _, i := range page.Value {
			if strings.EqualFold(value(i.Location), g.location) {
				out.Images = append(out.Images, family.ImageOffer{Image: template.Image{Image: value(i.ID)}, Description: value(i.Name)})
			}
		}
	})
	slices.SortFunc(out.Images, func(a, b family.ImageOffer) int { return strings.Compare(a.Image.Image, b.Image.Image) })
	return out, err
}

// readSizes returns the VM sizes of the location, by their names in small letters.
func (g *group) readSizes(ctx context.Context) (map[string]*armcompute.ResourceSKU, error) {
	out := map[string]*armcompute.ResourceSKU{}
	only := &armcompute.ResourceSKUsClientListOptions{Filter: ref("location eq '" + g.location + "'")}
	err := pages(ctx, g.sizes.NewListPager(only), func(page armcompute.ResourceSKUsClientListResponse) {
		for _, size := range page.Value {
			at := func(l *string) bool { return strings.EqualFold(value(l), g.location) }
			if value(size.ResourceType) == "virtualMachines" && slices.ContainsFunc(size.Locations, at) {
				out[strings.ToLower(value(size.Name))] = size
			}
		}
	})
	return out, err
}

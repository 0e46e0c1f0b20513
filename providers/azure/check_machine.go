package azure

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// need looks whether machines of one kind can be made.
func (s *survey) need(ctx context.Context, n family.MachineNeed) {
	zone, err := s.g.zoneOf(n.Zone)
	if err != nil {
		s.bad(family.AboutRegion, n.Zone, app.EInvalid, app.AsError(err).Hint, "%s", app.AsError(err).Message)
	}
	o, err := readOptions(s.g.raw.With(n.Flavor.Extra, n.Image.Extra))
	if err != nil {
		s.bad(family.AboutSettings, n.Flavor.Flavor, app.EInvalid, cmp.Or(app.AsError(err).Hint, "Correct the hardware type or image type."),
			"%s", app.AsError(err).Message)
		return
	}
	var size *armcompute.ResourceSKU
	if n.Flavor.Flavor != "" && s.sizes != nil {
		size = s.size(n.Flavor.Flavor, zone)
	}
	if size != nil {
		s.count(size, o, float64(n.Count))
	}
	if n.Image.Image != "" && !s.images[n.Image.Image+" "+n.Flavor.Flavor] {
		s.images[n.Image.Image+" "+n.Flavor.Flavor] = true
		s.image(ctx, n.Image.Image, size)
	}
}

// size looks whether the subscription can have a size in the location and the zone; nil where it can't.
func (s *survey) size(name, zone string) *armcompute.ResourceSKU {
	is := s.sizes[strings.ToLower(name)]
	at := s.g.settings.location
	if is == nil {
		s.bad(family.AboutFlavor, name, app.EInvalid, "Run az vm list-skus --location "+at+" --output table.", "Size %s doesn't exist in %s.", name, at)
		return nil
	}
	zones, barred := zonesOf(is)
	switch {
	case barred:
		s.bad(family.AboutFlavor, name, app.ECapacity, "Choose another size or location, or ask Azure's support for access.",
			"Size %s isn't available to this subscription in %s.", name, at)
	case zone != "" && !slices.Contains(zones, zone):
		s.bad(family.AboutFlavor, name, app.ECapacity, "Choose another zone or size.", "Size %s isn't available in zone %s-%s.", name, at, zone)
	default:
		s.found = slices.DeleteFunc(s.found, func(f family.Finding) bool { return f.About == family.AboutFlavor && f.Subject == name && f.OK })
		s.good(family.AboutFlavor, name, "Size %s is available in %s.", name, at)
		return is
	}
	return nil
}

// zonesOf returns the zones in which the subscription can have a size, and whether it can't have it at all.
func zonesOf(size *armcompute.ResourceSKU) (zones []string, barred bool) {
	for _, at := range size.LocationInfo {
		for _, z := range at.Zones {
			zones = append(zones, value(z))
		}
	}
	for _, r := range size.Restrictions {
		switch {
		case value(r.Type) == armcompute.ResourceSKURestrictionsTypeLocation:
			barred = true
		case r.RestrictionInfo != nil:
			zones = slices.DeleteFunc(zones, func(z string) bool {
				return slices.ContainsFunc(r.RestrictionInfo.Zones, func(x *string) bool { return value(x) == z })
			})
		}
	}
	slices.Sort(zones)
	return zones, barred
}

// ability returns what a size says of itself, such as vCPUs.
func ability(size *armcompute.ResourceSKU, name string) string {
	if size != nil {
		for _, c := range size.Capabilities {
			if value(c.Name) == name {
				return value(c.Value)
			}
		}
	}
	return ""
}

func amount(size *armcompute.ResourceSKU, name string) float64 {
	n, _ := strconv.ParseFloat(ability(size, name), 64)
	return n
}

// image looks whether an image is there and goes with a size.
func (s *survey) image(ctx context.Context, text string, size *armcompute.ResourceSKU) {
	is, err := imageOf(text)
	if err != nil {
		s.bad(family.AboutImage, text, app.EInvalid, app.AsError(err).Hint, "%s", app.AsError(err).Message)
		return
	}
	at := s.g.settings.location
	lacks, hint := "Image "+text+" doesn't exist in "+at+".", "Run az vm image list --location "+at+" --all, or correct the image type."
	switch {
	case is.ID != nil:
		version := versionCompute
		if strings.Contains(strings.ToLower(*is.ID), "/galleries/") {
			version = versionGalleries
		}
		err = s.g.call(ctx, http.MethodGet, *is.ID, version, nil, nil)
	case is.Publisher == nil:
		s.doubt(family.AboutImage, text, "Create a machine with it.", "Images of other directories can't be checked: %s.", text)
		return
	default:
		var p *armcompute.VirtualMachineImageProperties
		if p, err = s.g.platformImage(ctx, is); err == nil && p != nil && !s.goesWith(text, p, size) {
			return
		}
	}
	if err != nil {
		s.failed(family.AboutImage, text, err, lacks, hint)
		return
	}
	s.good(family.AboutImage, text, "Image %s exists.", text)
}

// goesWith looks whether an image can be used, and with a size.
func (s *survey) goesWith(text string, p *armcompute.VirtualMachineImageProperties, size *armcompute.ResourceSKU) bool {
	generation, arch := string(value(p.HyperVGeneration)), string(value(p.Architecture))
	generations, wanted := ability(size, "HyperVGenerations"), ability(size, "CpuArchitectureType")
	bad := func(hint, format string, args ...any) bool {
		s.bad(family.AboutImage, text, app.EInvalid, hint, format, args...)
		return false
	}
	switch {
	case p.Plan != nil:
		return bad("Use an image without a purchase plan.", "Image %s is sold on Azure Marketplace, which Muster doesn't support.", text)
	case generation != "" && generations != "" && !strings.Contains(generations, generation):
		return bad("Use the image's other generation, or another size.",
			"Image %s is of generation %s, but size %s requires %s.", text, generation, value(size.Name), generations)
	case arch != "" && wanted != "" && !strings.EqualFold(arch, wanted):
		return bad("Use an image for "+wanted+", or another size.", "Image %s is for %s, but size %s requires %s.", text, arch, value(size.Name), wanted)
	}
	return true
}

// platformImage returns an image of Azure's publishers; nil for one without versions.
func (g *group) platformImage(ctx context.Context, is *armcompute.ImageReference) (*armcompute.VirtualMachineImageProperties, error) {
	version := *is.Version
	if version == "latest" {
		all, err := g.images.List(ctx, g.location, *is.Publisher, *is.Offer, *is.SKU,
			&armcompute.VirtualMachineImagesClientListOptions{Top: ref(int32(1)), Orderby: ref("name desc")})
		if err != nil {
			return nil, coded(err)
		}
		if len(all.VirtualMachineImageResourceArray) == 0 {
			return nil, app.Errorf(app.ENotFound, "the image has no versions")
		}
		version = value(all.VirtualMachineImageResourceArray[0].Name)
	}
	r, err := g.images.Get(ctx, g.location, *is.Publisher, *is.Offer, *is.SKU, version, nil)
	return r.Properties, coded(err)
}

// taken is what machines of a need take of quotas, by their names in small letters.
type taken struct {
	kind string
	n    float64
	of   map[string]float64 // of one machine
}

// addressQuotas count public addresses: which of them a location has differs.
var addressQuotas = []string{"publicipaddresses", "standardskupublicipaddresses", "ipv4standardskupublicipaddresses"}

func (s *survey) count(size *armcompute.ResourceSKU, o options, n float64) {
	cpus := amount(size, "vCPUs")
	t := taken{value(size.Name), n, map[string]float64{"virtualmachines": 1, "networkinterfaces": 1}}
	if o.spot == spotYes {
		t.of["lowprioritycores"] = cpus
	} else {
		t.of["cores"], t.of[strings.ToLower(value(size.Family))] = cpus, cpus
	}
	if o.public {
		for _, q := range addressQuotas {
			t.of[q] = 1
		}
	}
	s.taken = append(s.taken, t)
}

// quotas looks whether what is needed is left. With each, every kind is looked at for itself.
func (s *survey) quotas(ctx context.Context, each bool) {
	if len(s.taken) == 0 {
		return
	}
	limits := map[string]account.Quota{}
	add := func(name, shown *string, limit int64, used float64) {
		limits[strings.ToLower(value(name))] = account.Quota{Name: value(shown), Limit: float64(limit), Used: used}
	}
	err := pages(ctx, s.g.usage.NewListPager(s.g.location, nil), func(page armcompute.UsageClientListResponse) {
		for _, u := range page.Value {
			if u.Name != nil {
				add(u.Name.Value, u.Name.LocalizedValue, value(u.Limit), float64(value(u.CurrentValue)))
			}
		}
	})
	if err == nil {
		err = pages(ctx, s.g.network.NewListPager(s.g.location, nil), func(page armnetwork.UsagesClientListResponse) {
			for _, u := range page.Value {
				if u.Name != nil {
					add(u.Name.Value, u.Name.LocalizedValue, value(u.Limit), float64(value(u.CurrentValue)))
				}
			}
		})
	}
	if err != nil {
		s.doubt(family.AboutQuota, s.g.settings.location, hintRole, "Can't read the quotas of %s: %s", s.g.settings.location, app.AsError(err).Message)
		return
	}
	s.compare(limits, each)
}

func (s *survey) compare(limits map[string]account.Quota, each bool) {
	needs := map[string]float64{}
	kinds := make([]account.Kind, len(s.taken))
	var list []account.Quota
	for i, t := range s.taken {
		kinds[i] = account.Kind{Name: "size " + t.kind, Takes: map[string]float64{}}
		for q, n := range t.of {
			if l, ok := limits[q]; ok {
				kinds[i].Takes[l.Name] = n
				needs[q] += n * t.n
			}
		}
	}
	enough := true
	for _, q := range slices.Sorted(maps.Keys(needs)) {
		l := limits[q]
		list = append(list, l)
		if !each && l.Left() < needs[q] {
			enough = false
			s.bad(family.AboutQuota, l.Name, app.EQuota, hintQuota, "Quota %q in %s: only %s of %s available, but %s needed.", l.Name, s.g.settings.location,
				account.Number(l.Left()), account.Number(l.Limit), account.Number(needs[q]))
		}
	}
	if each {
		found := account.Apart(kinds, list, hintQuota)
		s.found, enough = append(s.found, found...), len(found) == 0
	}
	if enough {
		s.good(family.AboutQuota, s.g.settings.location, "The quotas of %s are sufficient.", s.g.settings.location)
	}
}

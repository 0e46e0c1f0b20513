package digitalocean

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"

	"github.com/digitalocean/godo"
)

// machines looks at sizes and images of what is needed.
func (s *survey) machines(ctx context.Context) {
	if len(s.needs.Machines) == 0 {
		return
	}
	list, err := pages(ctx, "sizes:read", s.c.api.Sizes.List)
	if s.could("sizes:read", err) {
		s.sizes = make(map[string]godo.Size, len(list))
		for _, z := range list {
			s.sizes[z.Slug] = z
		}
	}
	images := make(map[string]*godo.Image)
	seen := make(map[string]bool)
	for _, n := range s.needs.Machines {
		zone := cmp.Or(n.Zone, s.c.region)
		if key := "size " + n.Flavor.Flavor + " " + zone; n.Flavor.Flavor != "" && !seen[key] {
			seen[key] = true
			s.size(n, zone)
		}
		name := n.Image.Image
		if name == "" { // only the size is asked about
			continue
		}
		if _, looked := images[name]; !looked {
			images[name] = s.image(ctx, name)
		}
		if key := "image " + name + " " + n.Flavor.Flavor + " " + zone; images[name] != nil && !seen[key] {
			seen[key] = true
			s.fits(images[name], n, zone)
		}
	}
}

func (s *survey) size(n family.MachineNeed, zone string) {
	slug := n.Flavor.Flavor
	if _, err := read(s.c.raw.With(n.Flavor.Extra)); err != nil {
		e := app.AsError(err)
		s.wrong(family.AboutFlavor, slug, e.Code, cmp.Or(e.Hint, "Correct the hardware type."), "Size %s: %s.", slug, e.ForPeople())
	}
	if s.sizes == nil {
		return
	}
	z, ok := s.sizes[slug]
	switch {
	case !ok:
		s.wrong(family.AboutFlavor, slug, app.EInvalid, humanize.Suggest(slug, slices.Sorted(maps.Keys(s.sizes))), "DigitalOcean size %q doesn't exist.", slug)
	case !z.Available:
		s.wrong(family.AboutFlavor, slug, app.ECapacity, "Choose another size.", "Size %s is no longer offered, or not to this account.", slug)
	case !slices.Contains(z.Regions, zone):
		hint := "It isn't available anywhere now; choose another size."
		if len(z.Regions) > 0 {
			hint = "Available in: " + strings.Join(slices.Sorted(slices.Values(z.Regions)), ", ") + "."
		}
		s.wrong(family.AboutFlavor, slug, app.ECapacity, hint, "Size %s isn't available in region %s.", slug, zone)
	default:
		s.ok(family.AboutFlavor, slug, "Size %s is available in region %s for $%.5f/h.", slug, zone, z.PriceHourly)
	}
}

// image returns an image of DigitalOcean or of the account; nil where it reported a problem.
func (s *survey) image(ctx context.Context, name string) *godo.Image {
	var i *godo.Image
	var err error
	if n, ok := number(name); ok {
		i, _, err = s.c.api.Images.GetByID(ctx, n)
	} else {
		i, _, err = s.c.api.Images.GetBySlug(ctx, name)
	}
	const hint = "The account's offers list the slugs and IDs of images. Slugs of old versions are removed over time."
	if absent(failure("image:read", err)) {
		s.wrong(family.AboutImage, name, app.EInvalid, hint, "DigitalOcean image %q doesn't exist, or the account can't use it.", name)
		return nil
	}
	if !s.could("image:read", err) {
		return nil
	}
	if i.Status != "" && i.Status != "available" {
		s.wrong(family.AboutImage, name, app.EInvalid, hint, "Image %s (%s) can't be used; its state is %s.", name, i.Name, i.Status)
		return nil
	}
	return i
}

// fits looks whether an image can be put on a size in a region.
func (s *survey) fits(i *godo.Image, n family.MachineNeed, zone string) {
	name := n.Image.Image
	z, known := s.sizes[n.Flavor.Flavor]
	switch {
	case !slices.Contains(i.Regions, zone):
		s.wrong(family.AboutImage, name, app.EInvalid, "Copy it there in the control panel (Backups & Snapshots, Add to region), or choose another.", "Image %s (%s %s) isn't in region %s.", name, i.Distribution, i.Name, zone)
	case known && i.MinDiskSize > z.Disk:
		s.wrong(family.AboutImage, name, app.EInvalid, "Choose a size with a larger disk, or a smaller image.", "Image %s needs a disk of %d GB; size %s has %d GB.", name, i.MinDiskSize, z.Slug, z.Disk)
	default:
		s.ok(family.AboutImage, name, "Image %s (%s %s) is available in region %s.", name, i.Distribution, i.Name, zone)
	}
}

// networks looks at the VPC and the keys that the settings name.
func (s *survey) networks(ctx context.Context) {
	if s.c.vpc != "" {
		s.vpc(ctx)
	}
	for _, k := range s.c.sshKeys {
		var err error
		if n, ok := number(k); ok {
			_, _, err = s.c.api.Keys.GetByID(ctx, n)
		} else {
			_, _, err = s.c.api.Keys.GetByFingerprint(ctx, k)
		}
		if absent(failure("ssh_key:read", err)) {
			s.wrong(family.AboutNetwork, k, app.EInvalid, "Add it in the control panel (Settings, Security), or remove it from the setting ssh_keys.", "SSH key %s doesn't exist in the account.", k)
		} else if s.could("ssh_key:read", err) {
			s.ok(family.AboutNetwork, k, "SSH key %s exists.", k)
		}
	}
}

func (s *survey) vpc(ctx context.Context) {
	v, _, err := s.c.api.VPCs.Get(ctx, s.c.vpc)
	switch {
	case absent(failure("vpc:read", err)):
		s.wrong(family.AboutNetwork, s.c.vpc, app.EInvalid, "Find IDs in the control panel under Networking, VPC, or leave vpc_uuid empty for the region's default VPC.", "VPC %s doesn't exist in the account.", s.c.vpc)
		return
	case !s.could("vpc:read", err):
		return
	case v.RegionSlug != s.c.region:
		s.wrong(family.AboutNetwork, v.Name, app.EInvalid, "Set vpc_uuid to a VPC of region "+s.c.region+" , or change the region.", "VPC %s is in region %s, but the account's region is %s.", v.Name, v.RegionSlug, s.c.region)
		return
	}
	s.ok(family.AboutNetwork, v.Name, "VPC %s (%s) is in region %s.", v.Name, v.IPRange, v.RegionSlug)
	for _, zone := range s.zones() {
		if zone != s.c.region {
			s.warn(family.AboutNetwork, zone, "Machines in different regions reach each other only through their public addresses.", "Machines in region %s use its default VPC, not %s.", zone, v.Name)
		}
	}
}

// scopes looks at what only some creates need to read. What the token may write cannot be looked up without writing.
func (s *survey) scopes(ctx context.Context) {
	one := &godo.ListOptions{PerPage: 1}
	_, _, err := s.c.api.Tags.List(ctx, one)
	s.could("tag:read", err)
	s.domain(ctx)
	if _, _, err = s.c.api.Firewalls.List(ctx, one); forbidden(failure("firewall:read", err)) {
		s.warn(family.AboutPermissions, "firewall:read", hintScopes, "The token lacks the scope firewall:read, so clusters with a firewall can't be created.")
	} else {
		s.could("firewall:read", err)
	}
	if !slices.ContainsFunc(s.found, func(f family.Finding) bool { return f.About == family.AboutQuota || f.Subject == "droplet:read" }) {
		_, _, err = s.c.api.Droplets.List(ctx, one)
		s.could("droplet:read", err)
	}
	if len(s.readable) > 0 {
		slices.Sort(s.readable)
		s.ok(family.AboutPermissions, "", "The token has the scopes %s. Scopes to create, update and delete can't be checked beforehand.", strings.Join(s.readable, ", "))
	}
}

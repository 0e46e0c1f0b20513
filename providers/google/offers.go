package google

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"muster/app/family"
	"muster/app/template"
	"muster/providers/google/internal/gcp"
)

// offered are the projects whose public images are listed; images of others can be named all the same.
var offered = []string{"debian-cloud", "ubuntu-os-cloud"}

// Offers returns all zones, the machine types of the region of the account's zone, and images: the project's own, and the families of Debian and
// Ubuntu. The Compute API knows no prices.
func (p *Provider) Offers(ctx context.Context) (family.Offers, error) {
	var out family.Offers
	here := map[string]bool{}
	err := p.api.Zones(ctx, p.project, func(page *gcp.ZoneList) error {
		for _, z := range page.Items {
			if z.Status == "UP" {
				out.Zones = append(out.Zones, z.Name)
				here[z.Name] = region(z.Name) == region(p.zone)
			}
		}
		return nil
	})
	if err != nil {
		return family.Offers{}, coded(err)
	}
	slices.Sort(out.Zones)
	if out.Flavors, err = p.flavors(ctx, slices.DeleteFunc(slices.Clone(out.Zones), func(z string) bool { return !here[z] })); err != nil {
		return family.Offers{}, err
	}
	for _, project := range append([]string{p.project}, offered...) {
		images, err := p.images(ctx, project)
		if err != nil {
			return family.Offers{}, err
		}
		out.Images = append(out.Images, images...)
	}
	slices.SortFunc(out.Images, func(a, b family.ImageOffer) int { return strings.Compare(a.Image.Image, b.Image.Image) })
	return out, nil
}

// flavors returns the machine types of some zones.
func (p *Provider) flavors(ctx context.Context, zones []string) ([]family.FlavorOffer, error) {
	all := map[string]*family.FlavorOffer{}
	for _, zone := range zones {
		err := p.api.MachineTypes(ctx, p.project, zone, func(page *gcp.MachineTypeList) error {
			for _, t := range page.Items {
				if t.Deprecated != nil && t.Deprecated.State != "" && t.Deprecated.State != "ACTIVE" {
					continue
				}
				if all[t.Name] == nil {
					all[t.Name] = &family.FlavorOffer{Flavor: template.Flavor{Flavor: t.Name, CPU: float64(t.GuestCPUs), MemoryGB: float64(t.MemoryMB) / 1024}, Description: t.Description}
				}
				all[t.Name].GPUs, all[t.Name].GPU = gpus(t)
				all[t.Name].Zones = append(all[t.Name].Zones, zone)
			}
			return nil
		})
		if err != nil {
			return nil, coded(err)
		}
	}
	var out []family.FlavorOffer
	for _, name := range sorted(all) {
		out = append(out, *all[name])
	}
	return out, nil
}

// images returns the newest image of each family of a project, and what has no family by its path.
func (p *Provider) images(ctx context.Context, project string) ([]family.ImageOffer, error) {
	newest := map[string]*gcp.Image{}
	err := p.api.Images(ctx, project, func(page *gcp.ImageList) error {
		for _, i := range page.Items {
			if i.Labels[labelBaked] != "" {
				continue
			}
			if i.Deprecated != nil && i.Deprecated.State != "" && i.Deprecated.State != "ACTIVE" || i.Status != "" && i.Status != "READY" {
				continue
			}
			name := p.offeredName(project, i)
			if is := newest[name]; is == nil || when(is.CreationTimestamp).Before(when(i.CreationTimestamp)) {
				newest[name] = i
			}
		}
		return nil
	})
	if err != nil {
		return nil, coded(err)
	}
	var out []family.ImageOffer
	for _, name := range sorted(newest) {
		i := newest[name]
		about := cmp.Or(i.Description, i.Name)
		if i.Architecture != "" {
			about += " (" + strings.ToLower(i.Architecture) + ")"
		}
		out = append(out, family.ImageOffer{Image: template.Image{Image: name}, Description: about, CreatedAt: when(i.CreationTimestamp)})
	}
	return out, nil
}

// offeredName is the shortest name that leads back to the image: its family alone where that is enough.
func (p *Provider) offeredName(project string, i *gcp.Image) string {
	path := "projects/" + project + "/global/images/"
	if i.Family == "" {
		return path + i.Name
	}
	if back, err := p.imagePath(i.Family); err == nil && back == path+"family/"+i.Family {
		return i.Family
	}
	return project + "/" + i.Family
}

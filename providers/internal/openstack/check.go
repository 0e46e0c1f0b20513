package openstack

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/availabilityzones"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
)

// Findings are what is notified of an account.
type Findings []family.Finding

// Good adds that something is well.
func (f *Findings) Good(about, subject, format string, args ...any) {
	*f = append(*f, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

// Doubt adds something that may matter.
func (f *Findings) Doubt(about, subject, hint, format string, args ...any) {
	*f = append(*f, family.Finding{About: about, Subject: subject, Warning: true, Code: app.EInvalid, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// Bad adds what is wrong by its error. Where the credentials may not even look, it is about them and not about what they were to look at.
func (f *Findings) Bad(about, subject string, err error) {
	err = Coded(err)
	if app.CodeOf(err) == app.EInternal { // the network's failure, which the family's wrapper would have given a code
		err = app.Errorf(app.ETransient, "can't connect to the cloud: %w", err)
	}
	e := app.AsError(err)
	if e.Reason == "permission" {
		about = family.AboutPermissions
	}
	hint := e.Hint
	if hint == "" {
		hint = "Try again later. If it still fails, ask the cloud's operator."
	}
	*f = append(*f, family.Finding{About: about, Subject: subject, Code: e.Code, Message: e.ForPeople(), Hint: hint})
}

// Open looks at credentials and region; nil where there is nothing more to be seen.
func (f *Findings) Open(ctx context.Context, s *Sessions) *Session {
	session, err := s.Get(ctx)
	if err == nil {
		// A token that was good a while ago proves nothing: something is asked with it.
		_, err = With(ctx, s, func(now *Session) (any, error) {
			session = now
			return nil, limits.Get(ctx, now.Compute, limits.GetOpts{}).Err
		})
	}
	if err != nil {
		about := family.AboutCredentials
		e := app.AsError(Coded(err))
		switch {
		case e.Reason == reasonRegion:
			f.Good(family.AboutCredentials, "", "The credentials are valid.")
			about = family.AboutRegion
		case strings.HasPrefix(e.Field, "settings.") && e.Code == app.EInvalid:
			about = family.AboutSettings
		}
		f.Bad(about, "", err)
		return nil
	}
	f.Good(family.AboutCredentials, "", "The credentials are valid, with the roles %s.", strings.Join(session.Token.Roles, ", "))
	f.roles(session.Token.Roles)
	return session
}

// roles warns of accounts that can only look.
func (f *Findings) roles(roles []string) {
	// Rackspace's roles have the product in front, and one that every user has.
	roles = slices.DeleteFunc(slices.Clone(roles), func(r string) bool { return r == "identity:default" })
	looks := func(r string) bool {
		return slices.Contains([]string{"reader", "auditor", "observer"}, strings.ToLower(r[strings.LastIndex(r, ":")+1:]))
	}
	if len(roles) > 0 && !slices.ContainsFunc(roles, func(r string) bool { return !looks(r) }) {
		e := app.Errorf(app.ECredentials, "the roles %s allow only reading", strings.Join(roles, "Grant the user the role member in the project, or create an application credential with it. "))
		e.Hint = "Give the user the role member in the project, or make an application credential with it."
		f.Bad(family.AboutPermissions, "", e)
	}
}

// zones returns the names of the zones that can be used, sorted.
func zones(ctx context.Context, s *Session) ([]string, error) {
	page, err := availabilityzones.List(s.Compute).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	all, err := availabilityzones.ExtractAvailabilityZones(page)
	var names []string
	for _, z := range all {
		if z.ZoneState.Available {
			names = append(names, z.ZoneName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// Zone looks whether zones are there.
func (f *Findings) Zone(ctx context.Context, s *Session, wanted []string) {
	zones, err := zones(ctx, s)
	if err != nil {
		if gophercloud.ResponseCodeIs(err, http.StatusNotFound) && len(wanted) == 0 {
			return // the cloud has no zones
		}
		f.Bad(family.AboutRegion, s.Region, err)
		return
	}
	f.Good(family.AboutRegion, s.Region, "Region %q has zones %s.", s.Region, strings.Join(zones, ", "))
	for _, w := range wanted {
		zone, _, _ := strings.Cut(w, ":") // an administrator may name a host behind it
		if !slices.Contains(zones, zone) {
			e := app.Errorf(app.EInvalid, "zone %q doesn't exist or has no working host", zone)
			e.Hint = humanize.Suggest(zone, zones)
			f.Bad(family.AboutRegion, w, e)
		}
	}
}

// Machines looks at flavors and images, and returns what the machines need. Disks tells with which the one of that place is made, of that flavor, and
// nets how many
// ports and floating IPs it has.
func (f *Findings) Machines(ctx context.Context, s *Session, needs family.AccountNeeds, disks func(int, flavors.Flavor) Disks, nets func(int) (ports, floating int)) *Demand {
	demand := &Demand{each: needs.Each}
	all, err := flavorList(ctx, s)
	if err != nil {
		f.Bad(family.AboutFlavor, "", err)
	} else if len(needs.Machines) == 0 {
		f.Good(family.AboutFlavor, "", "The project can use %d flavors.", len(all))
	}
	for i, need := range needs.Machines {
		var image images.Image
		ok := false
		if need.Image.Image != "" { // someone may ask for a flavor or an image by itself
			image, ok = f.image(ctx, s, need.Image.Image)
		}
		one := Wants{Servers: 1}
		one.Ports, one.Floating = nets(i)
		if err != nil || need.Flavor.Flavor == "" {
			demand.add(need, one)
			continue
		}
		flavor, err := flavorOf(all, need.Flavor.Flavor)
		if err != nil {
			f.Bad(family.AboutFlavor, need.Flavor.Flavor, err)
			continue
		}
		d := disks(i, flavor)
		for _, gb := range []int{d.BootGB, d.DataGB} {
			if gb > 0 {
				one.Volumes++
				one.VolumeGB += gb
			}
		}
		one.Cores, one.MemoryMB = flavor.VCPUs, flavor.RAM
		demand.add(need, one)
		if ok {
			if err := fits(flavor, image, d); err != nil {
				f.Bad(family.AboutFlavor, flavor.Name, err)
				continue
			}
		}
		f.Good(family.AboutFlavor, flavor.Name, "Flavor %q has %d CPUs, %d MB of memory and a disk of %d GB.", flavor.Name, flavor.VCPUs, flavor.RAM, flavor.Disk)
	}
	return demand
}

func (f *Findings) image(ctx context.Context, s *Session, name string) (images.Image, bool) {
	image, err := image(ctx, s, name)
	if err == nil {
		err = usable(image)
	}
	if err != nil {
		f.Bad(family.AboutImage, name, err)
		return image, false
	}
	f.Good(family.AboutImage, name, "Image %q exists, created on %s.", image.Name, image.CreatedAt.Format("2006-01-02"))
	return image, true
}

// Offers returns flavors, images and zones. OpenStack tells no prices. Where a cloud's flavors are known by their ids, they are offered so, with
// their names as descriptions.
func Offers(ctx context.Context, s *Session, byID bool) (family.Offers, error) {
	var out family.Offers
	all, err := flavorList(ctx, s)
	if err != nil {
		return out, err
	}
	for _, f := range all {
		offer := family.FlavorOffer{Flavor: offered(f), Description: f.Description}
		if byID {
			offer.Flavor.Flavor, offer.Description = f.ID, f.Name
		}
		out.Flavors = append(out.Flavors, offer)
	}
	slices.SortFunc(out.Flavors, func(a, b family.FlavorOffer) int { return strings.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	if out.Zones, err = zones(ctx, s); err != nil && !Absent(err) {
		return out, err
	}
	if err := s.Needs("image", s.Image); err != nil {
		return out, err
	}
	found, err := imageList(ctx, s, images.ListOpts{Status: images.ImageStatusActive})
	if err != nil {
		return out, err
	}
	newest := map[string]images.Image{}
	for _, i := range found {
		if have, ok := newest[i.Name]; i.Name != "" && (!ok || i.CreatedAt.After(have.CreatedAt)) {
			newest[i.Name] = i // as Image chooses it
		}
	}
	for name, i := range newest {
		offer := family.ImageOffer{Image: template.Image{Image: name}, CreatedAt: i.CreatedAt}
		for _, about := range []string{"os_distro", "os_version", "architecture"} {
			if text, ok := i.Properties[about].(string); ok {
				offer.Description = strings.TrimSpace(offer.Description + " " + text)
			}
		}
		out.Images = append(out.Images, offer)
	}
	slices.SortFunc(out.Images, func(a, b family.ImageOffer) int { return strings.Compare(a.Image.Image, b.Image.Image) })
	return out, nil
}

func offered(f flavors.Flavor) template.Flavor {
	n, model := gpus(f.ExtraSpecs)
	return template.Flavor{Flavor: f.Name, CPU: float64(f.VCPUs), MemoryGB: float64(f.RAM) / 1024, DiskGB: float64(f.Disk), GPUs: n, GPU: model}
}

// gpus reads what a flavor's extra specs say of GPUs, where the cloud shows them: virtual ones, and devices that are passed through, by the
// alias that the cloud's operator named them by. See https://docs.openstack.org/nova/latest/configuration/extra-specs.html.
func gpus(specs map[string]string) (n int, model string) {
	n, _ = strconv.Atoi(specs["resources:VGPU"])
	if n > 0 {
		return min(n, template.MaxGPUs), "vgpu"
	}
	n = 0
	for _, device := range strings.Split(specs["pci_passthrough:alias"], ",") {
		alias, count, _ := strings.Cut(strings.TrimSpace(device), ":")
		if k, err := strconv.Atoi(count); err == nil && k > 0 && strings.Contains(strings.ToLower(alias), "gpu") {
			n += k
			model = cmp.Or(model, alias)
		}
	}
	return min(n, template.MaxGPUs), model
}

package joyent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/joyent/internal/cloudapi"
)

// survey is one look at an account.
type survey struct{ found []family.Finding }

func (s *survey) good(about, subject, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) bad(about, subject string, code app.Code, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// asked reports whether a question was answered; where it was not, that is a finding.
func (s *survey) asked(about, action string, err error) bool {
	if err == nil {
		return true
	}
	err = coded(err)
	e := app.AsError(err)
	switch {
	case e.Code == app.ECredentials && about == family.AboutCredentials:
		s.bad(about, action, e.Code, e.Hint, "CloudAPI rejected the account's key: %s", e.Message)
	case e.Code == app.ECredentials:
		s.bad(family.AboutPermissions, action, e.Code, "Give the subuser a role with a policy that says CAN "+action+", and tag the resources with the role.", "Not allowed to %s: %s", action, e.Message)
	case e.Code == app.EInternal:
		s.bad(about, action, app.ETransient, "Check that CloudAPI's address is correct and reachable.", "Can't connect to CloudAPI (%s): %v", action, err)
	case e.Code == app.ENotFound:
		s.bad(about, action, app.ECredentials, "Check the account's login.", "The account doesn't exist: %s", e.Message)
	default:
		hint := e.Hint
		if hint == "" {
			hint = "Try again later."
		}
		s.bad(about, action, e.Code, hint, "%s (%s)", e.Message, action)
	}
	return false
}

// CheckAccount looks at the key, the account, what it may list, networks, packages and images, and changes nothing. Quotas CloudAPI does not tell.
func (p *Provider) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &survey{}
	a, err := p.api.GetAccount(ctx)
	if !s.asked(family.AboutCredentials, "getaccount", err) {
		return s.found, nil // nothing else is answered without
	}
	s.good(family.AboutCredentials, "key", "CloudAPI accepts the key of %s.", a.Login)
	if a.Approved != nil && !*a.Approved {
		s.bad(family.AboutQuota, a.Login, app.EQuota, "Ask the cloud's operator to approve it for provisioning.", "Account %s isn't allowed to create machines.", a.Login)
	}
	if _, err := p.api.ListMachines(ctx, map[string]string{family.TagInstallation: "none"}); s.asked(family.AboutPermissions, "listmachines", err) {
		s.good(family.AboutPermissions, "listmachines", "Muster can list machines.")
	}
	if _, err := p.api.ListRules(ctx); s.asked(family.AboutPermissions, "listfirewallrules", err) {
		s.good(family.AboutPermissions, "listfirewallrules", "Muster can list firewall rules.")
	}
	packages, err := p.api.ListPackages(ctx)
	havePackages := s.asked(family.AboutFlavor, "listpackages", err)
	images, err := p.api.ListImages(ctx)
	haveImages := s.asked(family.AboutImage, "listimages", err)
	all, err := p.api.ListNetworks(ctx)
	haveNetworks := s.asked(family.AboutNetwork, "listnetworks", err)
	looked := map[string]bool{}
	network := func(names []string) {
		for _, name := range names {
			if !haveNetworks || looked[name] {
				continue
			}
			looked[name] = true
			if _, err := networkOf(all, name); err != nil {
				s.bad(family.AboutNetwork, name, app.EInvalid, "Set networks to names or UUIDs listed by triton network list.", "%s.", sentence(err))
			} else {
				s.good(family.AboutNetwork, name, "Network %s exists.", name)
			}
		}
	}
	network(p.settings.List("networks"))
	for _, need := range needs.Machines {
		if need.Zone != "" {
			s.bad(family.AboutRegion, need.Zone, app.EInvalid, "Create one provider in the catalog per datacenter.", "Zone %s doesn't exist: the account covers one datacenter.", need.Zone)
		}
		network(p.settings.With(need.Flavor.Extra).List("networks"))
		var kind *cloudapi.Package
		if name := need.Flavor.Flavor; name != "" && havePackages {
			if found, ok := packageOf(packages, name); ok {
				kind = &found
				s.good(family.AboutFlavor, name, "Package %s has %g GB of memory.", name, found.Memory/1024)
			} else {
				s.bad(family.AboutFlavor, name, app.EInvalid, "Run triton package list to see all packages.", "Package %s doesn't exist.", name)
			}
		}
		if name := need.Image.Image; name != "" && haveImages {
			s.image(images, name, kind)
		}
	}
	return s.found, nil
}

func sentence(err error) string {
	text := strings.TrimRight(app.AsError(err).Message, ".")
	return strings.ToUpper(text[:1]) + text[1:]
}

func (s *survey) image(all []cloudapi.Image, name string, kind *cloudapi.Package) {
	one, ok := imageOf(all, name)
	needs := one.Requirements
	switch {
	case !ok:
		s.bad(family.AboutImage, name, app.EInvalid, "Run triton image list to see all images.", "Image %s doesn't exist.", name)
	case one.State != "active":
		s.bad(family.AboutImage, name, app.EInvalid, "Choose another version.", "Image %s@%s is %s.", one.Name, one.Version, one.State)
	case one.OS != "" && one.OS != "linux":
		s.bad(family.AboutImage, name, app.EInvalid, "Choose a Linux image.", "Image %s is for %s, but Muster's start script requires Linux.", name, one.OS)
	case kind != nil && (needs.MinMemory > kind.Memory || needs.MaxMemory > 0 && needs.MaxMemory < kind.Memory):
		s.bad(family.AboutImage, name, app.EInvalid, "Choose another package.", "Image %s doesn't fit a package with %g GB of memory.", name, kind.Memory/1024)
	case kind != nil && needs.Brand != "" && kind.Brand != "" && needs.Brand != kind.Brand:
		s.bad(family.AboutImage, name, app.EInvalid, "Choose a package for "+needs.Brand+".", "Image %s is for %s, but package %s is for %s.", name, needs.Brand, kind.Name, kind.Brand)
	default:
		s.good(family.AboutImage, name, "Image %s@%s exists.", one.Name, one.Version)
	}
}

// Offers returns packages, and Linux images by name. CloudAPI knows no prices.
func (p *Provider) Offers(ctx context.Context) (family.Offers, error) {
	var out family.Offers
	packages, err := p.api.ListPackages(ctx)
	if err != nil {
		return out, coded(err)
	}
	for _, one := range packages {
		out.Flavors = append(out.Flavors, family.FlavorOffer{Flavor: template.Flavor{Flavor: one.Name, CPU: one.VCPUs, MemoryGB: one.Memory / 1024, DiskGB: one.Disk / 1024}, Description: one.Description})
	}
	slices.SortFunc(out.Flavors, func(a, b family.FlavorOffer) int { return strings.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	images, err := p.api.ListImages(ctx)
	if err != nil {
		return family.Offers{}, coded(err)
	}
	seen := map[string]bool{}
	for _, one := range images {
		if seen[one.Name] {
			continue
		}
		seen[one.Name] = true
		if newest, ok := imageOf(images, one.Name); ok && newest.State == "active" && (newest.OS == "linux" || newest.OS == "") {
			text := strings.TrimSpace(newest.Name + " " + newest.Version + " (" + newest.Type + ")")
			out.Images = append(out.Images, family.ImageOffer{Image: template.Image{Image: newest.Name}, Description: text, CreatedAt: newest.Published})
		}
	}
	slices.SortFunc(out.Images, func(a, b family.ImageOffer) int { return strings.Compare(a.Image.Image, b.Image.Image) })
	return out, nil
}

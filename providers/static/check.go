package static

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// leastFree is the room that a machine must have for its record, in KiB.
const leastFree = 1024

// survey is what one look at an account finds.
type survey struct {
	p     *provider
	found []family.Finding
	views []*view
	wrong []bool // by view: it cannot be handed out as it is
}

func (s *survey) ok(about, subject, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) bad(about, subject string, code app.Code, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) warn(about, subject, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Warning: true, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// CheckAccount implements family.AccountChecker. It asks every machine, and changes nothing but that the directory of the record is there.
func (p *provider) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	s := &survey{p: p, wrong: make([]bool, len(p.machines))}
	var err error
	if s.views, err = p.probeAll(ctx); err != nil {
		return nil, err
	}
	probes := make([]string, len(s.views))
	errs := make([]error, len(s.views))
	each(len(s.views), func(i int) {
		if v := s.views[i]; v.silent == nil && !v.out {
			limited, cancel := context.WithTimeout(ctx, probeTimeout)
			defer cancel()
			probes[i], _, errs[i] = p.run(limited, v.machine, probing)
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i, v := range s.views {
		if errs[i] != nil {
			v.silent = errs[i]
		}
		before := len(s.found)
		s.one(v, probes[i])
		s.wrong[i] = slices.ContainsFunc(s.found[before:], func(f family.Finding) bool { return !f.OK })
	}
	if p.wipe == "" {
		s.warn(family.AboutSettings, "wipe", "Add a script that deletes users' files, or reinstall the machines.", "Machines aren't wiped when they're released: the next user can read the previous user's files.")
	}
	for _, name := range slices.Sorted(maps.Keys(p.flavors)) {
		if _, differs := sizes(p.machines, name); len(differs) > 0 {
			s.warn(family.AboutFlavor, name, "Use a separate flavor for each kind of machine, or declare the minimum on all of them.", "Machines of flavor %s differ in %s, or don't declare it; the minimum applies.", name, strings.Join(differs, " and "))
		}
	}
	s.ask(needs)
	return s.found, ctx.Err()
}

// one says what was found of a machine.
func (s *survey) one(v *view, probe string) {
	switch {
	case v.out:
		s.warn(family.AboutNetwork, v.name, "Remove the word out from its line to use it again.", "Machine %s is out of service.", v.name)
		return
	case v.silent != nil:
		s.silent(v)
		return
	}
	var missing []string
	readonly, free := false, leastFree
	for _, line := range strings.Split(probe, "\n") {
		what, value, _ := strings.Cut(line, " ")
		switch what {
		case "missing":
			missing = append(missing, value)
		case "readonly":
			readonly = true
		case "free":
			if n, err := strconv.Atoi(value); err == nil {
				free = n
			}
		}
	}
	switch {
	case len(missing) > 0:
		s.bad(family.AboutPermissions, v.name, app.EInvalid, "Install util-linux, coreutils and grep, or busybox with them.", "Machine %s lacks %s.", v.name, strings.Join(missing, ", "))
	case readonly:
		s.bad(family.AboutPermissions, v.name, app.ECapacity, "Check the file system with /var/lib/muster, or the user's home without sudo: it may be full or read-only.", "Can't write a record on machine %s.", v.name)
	case free < leastFree:
		s.bad(family.AboutQuota, v.name, app.ECapacity, "Free up space on the file system with /var/lib/muster.", "Machine %s has only %d KiB free.", v.name, free)
	case v.rec != nil && v.rec.State == wiping && v.rec.Failed != "":
		s.warn(family.AboutQuota, v.name, "Check the wipe script or the machine, then delete it again.", "Machine %s was released but not wiped, and stays out of use: %s.", v.name, v.rec.Failed)
	default:
		use := "is available"
		if v.rec != nil {
			use = "is in use as " + v.rec.Hostname
		}
		s.ok(family.AboutNetwork, v.name, "Machine %s is reachable at %s and %s.", v.name, v.at(), use)
	}
	if !s.p.sudo && v.user != "root" {
		s.warn(family.AboutPermissions, v.name, "Set sudo to true, and allow passwordless sudo.", "Machine %s is used as %s without sudo: it gets no host name, and scripts run as that user.", v.name, v.user)
	}
}

// silent says why a machine could not be asked. One that was seen before is passed over; one that was not holds back all.
func (s *survey) silent(v *view) {
	e := app.AsError(v.silent)
	about := family.AboutNetwork
	switch {
	case e.Code == app.ECredentials && e.Reason == "sudo", e.Reason == "no_shell":
		about = family.AboutPermissions
	case e.Code == app.ECredentials:
		about = family.AboutCredentials
	case e.Reason == "record":
		about = family.AboutQuota
	}
	hint := cmp.Or(e.Hint, "Add the word out to its line while it's out of service.")
	if v.unknown || e.Code != app.ETransient {
		s.bad(about, v.name, e.Code, hint, "%s", e.ForPeople())
		return
	}
	s.warn(about, v.name, hint, "%s", e.ForPeople())
}

// ask holds what is wanted against what there is.
func (s *survey) ask(needs family.AccountNeeds) {
	p := s.p
	for _, n := range needs.Machines {
		w := &requirements{flavor: n.Flavor.Flavor, image: n.Image.Image, zone: n.Zone}
		any := w.flavor == ""
		var err error
		if w.labels, err = readLabels(n.Flavor.Extra["labels"]); err != nil {
			e := app.AsError(err)
			s.bad(family.AboutFlavor, n.Flavor.Flavor, e.Code, e.Hint, "%s", e.Message)
			continue
		}
		known := true
		for _, part := range []struct {
			about, what, name string
			has               map[string]int
		}{{family.AboutFlavor, "flavor", w.flavor, p.flavors}, {family.AboutImage, "image", w.image, p.images}, {family.AboutRegion, "zone", w.zone, p.zones}} {
			if part.name == "" {
				continue
			}
			if part.has[part.name] == 0 {
				e := unknown(part.what, part.name, part.has)
				s.bad(part.about, part.name, e.Code, e.Hint, "%s", e.Message)
				known = false
				continue
			}
			s.ok(part.about, part.name, "%s in the inventory for %s %s.", humanize.Count(part.has[part.name], "machine"), part.what, part.name)
		}
		if known && !any {
			s.room(n, w, needs.Each)
		}
	}
}

// room counts what is free. That all machines of a flavor are in use is what they are for, where no one wants one now.
func (s *survey) room(n family.MachineNeed, w *requirements, each bool) {
	fit, free := 0, 0
	for i, v := range s.views {
		if w.fits(v.machine) {
			fit++
			if v.free() && !s.wrong[i] {
				free++
			}
		}
	}
	switch {
	case fit == 0:
		e := app.AsError(full(s.views, w))
		s.bad(family.AboutFlavor, w.flavor, app.EInvalid, e.Hint, "%s", e.Message)
	case free == 0 && each:
		s.warn(family.AboutQuota, w.flavor, "Wait until some are released, or add more to the inventory.", "%s of %s: none available now.", humanize.Count(fit, "machine"), w)
	case free < n.Count && !each:
		s.bad(family.AboutQuota, w.flavor, app.ECapacity, "Wait until some are released, or add more to the inventory.", "%[1]s of %[2]s needed, but only %[4]d of %[3]d available now.", humanize.Count(n.Count, "machine"), w, fit, free)
	default:
		s.ok(family.AboutQuota, w.flavor, "%s of %s: %d available now.", humanize.Count(fit, "machine"), w, free)
	}
}

// Offers implements family.Offerer, from the inventory alone.
func (p *provider) Offers(ctx context.Context) (family.Offers, error) {
	out := family.Offers{Zones: slices.Sorted(maps.Keys(p.zones))}
	for _, name := range slices.Sorted(maps.Keys(p.flavors)) {
		zones := map[string]bool{}
		everywhere := false
		for _, m := range p.machines {
			if m.flavor == name {
				zones[m.zone] = true
				everywhere = everywhere || m.zone == ""
			}
		}
		flavor, _ := sizes(p.machines, name)
		f := family.FlavorOffer{Flavor: flavor, Description: humanize.Count(p.flavors[name], "machine")}
		if !everywhere {
			f.Zones = slices.Sorted(maps.Keys(zones))
		}
		out.Flavors = append(out.Flavors, f)
	}
	for _, name := range slices.Sorted(maps.Keys(p.images)) {
		out.Images = append(out.Images, family.ImageOffer{Image: template.Image{Image: name}, Description: "on " + humanize.Count(p.images[name], "machine")})
	}
	return out, ctx.Err()
}

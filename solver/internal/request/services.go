package request

import (
	"fmt"
	"slices"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
)

// names looks at each service that was asked for by itself: whether there is such a service, and whether it may be used.
func (v *reviewer) names() {
	asked := v.r.Services
	if len(asked) == 0 && v.t != nil {
		asked = v.t.Defaults.Services
	}
	for _, s := range asked {
		if !slices.Contains(v.services, s) {
			v.services = append(v.services, s)
		}
	}
	if len(v.services) == 0 && v.t != nil {
		v.say(app.EInvalid, BadRequest, "services", didYouMean(nil, v.usable()), nil, "A cluster needs at least one service.")
	}
	usable := v.usable()
	free := slices.DeleteFunc(slices.Clone(usable), func(s string) bool { return slices.Contains(v.services, s) })
	for _, s := range v.services {
		if slices.Contains(usable, s) {
			continue
		}
		near := nearNames(s, free)
		var repairs []Repair
		for _, name := range near {
			repairs = append(repairs, Repair{fmt.Sprintf("service %s instead of %s", name, s), v.replace(s, name)})
		}
		repairs = append(repairs, v.leaveOut(s)...)
		if v.c.Services[s] == nil {
			v.say(app.ENotFound, MissingService, "services", didYouMean(near, usable), repairs, "Service %s doesn't exist.", s)
			continue
		}
		v.say(app.EInvalid, IncompatibleServices, "services", fmt.Sprintf("Allowed: %s.", humanize.Some(usable, 8)), repairs,
			"Template %s doesn't allow service %s.", v.r.Template, s)
	}
}

// usable returns the services that the template allows, by name.
func (v *reviewer) usable() []string {
	return slices.DeleteFunc(sortedNames(v.c.Services), func(s string) bool {
		return v.t != nil && len(v.t.Compatibility.Services) > 0 && !slices.Contains(v.t.Compatibility.Services, s)
	})
}

// replace puts some services in the place of one.
func (v *reviewer) replace(s string, by ...string) func(*layout.Request) {
	var services []string
	for _, o := range v.services {
		if o == s {
			services = append(services, by...)
			continue
		}
		services = append(services, o)
	}
	return func(r *layout.Request) { r.Services = services }
}

func (v *reviewer) leaveOut(s string) []Repair {
	if len(v.services) < 2 {
		return nil // an empty list means the template's own
	}
	return []Repair{{"without " + s, v.replace(s)}}
}

// Provides reports whether a service is what another one requires.
func Provides(c *template.Catalog, service, need string) bool {
	return service == need || slices.Contains(c.Services[service].Provides, need)
}

func (v *reviewer) dependencies() {
	for _, s := range slices.Sorted(slices.Values(v.services)) {
		if v.c.Services[s] == nil {
			continue
		}
		is := v.c.Services[s]
		for _, need := range Distinct(slices.Concat(is.Install.Requires, is.Runtime.Requires)) {
			if slices.ContainsFunc(v.services, func(o string) bool { return v.c.Services[o] != nil && Provides(v.c, o, need) }) {
				continue
			}
			v.missing(s, need)
		}
	}
}

// missing says what would provide what a service lacks.
func (v *reviewer) missing(s, need string) {
	var would, barred []string
	usable := v.usable()
	for _, o := range sortedNames(v.c.Services) {
		if !Provides(v.c, o, need) {
			continue
		}
		if slices.Contains(usable, o) {
			would = append(would, o)
		} else {
			barred = append(barred, o)
		}
	}
	var repairs []Repair
	for _, o := range would {
		repairs = append(repairs, Repair{"with " + o, v.replace(s, s, o)})
	}
	repairs = append(repairs, v.leaveOut(s)...)
	hint := "No service provides it."
	switch {
	case len(would) == 1 && would[0] == need:
		hint = fmt.Sprintf("Add %s.", need)
	case len(would) > 0:
		hint = fmt.Sprintf("Add %s.", humanize.Or(would))
	case len(barred) > 0:
		hint = fmt.Sprintf("Only services that template %s doesn't allow provide it: %s.", v.r.Template, humanize.Some(barred, 8))
	}
	v.say(app.EInvalid, MissingDependency, "services", hint, repairs,
		"%s requires %s, which isn't on the cluster.", s, need)
}

func (v *reviewer) enemies() {
	services := slices.Sorted(slices.Values(v.services))
	against := func(a, b string) bool { return v.c.Services[a] != nil && slices.Contains(v.c.Services[a].Conflicts, b) }
	for i, a := range services {
		for _, b := range services[i:] {
			who, whom := a, b
			if !against(a, b) {
				who, whom = b, a
			}
			if against(who, whom) {
				v.say(app.EInvalid, ConflictingServices, "services", "Remove one of the two.",
					append(v.leaveOut(a), v.leaveOut(b)...), "%s conflicts with %s.", who, whom)
			}
		}
	}
}

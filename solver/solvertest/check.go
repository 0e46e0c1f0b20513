package solvertest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// Check says in sentences what of a request and its template a layout does not keep; nothing where it keeps all. It
// reads the catalog for itself and shares no thought with the search, so it can serve as a witness for it. Whether the
// layout is the preferred one it does not say. A size of 0 or below in the request means any that the template allows.
func Check(c *template.Catalog, r layout.Request, l layout.Layout) []string {
	t := c.Templates[r.Template]
	if t == nil {
		return []string{fmt.Sprintf("Template %s doesn't exist.", r.Template)}
	}
	k := &checker{c: c, r: r, l: l, t: t, provider: cmp.Or(r.Provider, t.Defaults.Provider), asked: map[string]bool{},
		count: map[string]int{}}
	services := r.Services
	if len(services) == 0 {
		services = t.Defaults.Services
	}
	for _, s := range services {
		k.asked[s] = true
	}
	k.whole()
	for _, g := range l.Groups {
		for _, s := range g.Services {
			k.count[s] += g.Count
		}
		k.types(g)
		k.company(g)
		k.resources(g)
	}
	k.counts()
	k.hardware()
	k.zones()
	k.hosts()
	sort.Strings(k.wrong)
	return slices.Compact(k.wrong)
}

// checker holds what the single checks need. asked is the services of the cluster, count the nodes that each is on.
type checker struct {
	c        *template.Catalog
	r        layout.Request
	l        layout.Layout
	t        *template.Template
	provider string
	asked    map[string]bool
	count    map[string]int
	wrong    []string
}

func (k *checker) say(format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
}

func (k *checker) whole() {
	if k.l.Provider != k.provider || k.c.Providers[k.provider] == nil {
		k.say("The layout is for provider %q instead of %q.", k.l.Provider, k.provider)
	}
	n := k.l.Size()
	if k.r.Size > 0 && n != k.r.Size {
		k.say("There are %s instead of %d.", humanize.Count(n, "node"), k.r.Size)
	}
	if !k.t.Constraints.Size.Allows(n) {
		k.say("There are %s, which the template does not allow.", humanize.Count(n, "node"))
	}
}

func (k *checker) types(g layout.NodeGroup) {
	if g.Count < 1 || len(g.Services) == 0 {
		k.say("A group of %s has %s.", humanize.Count(g.Count, "node"), humanize.Count(len(g.Services), "service"))
	}
	if !slices.IsSorted(g.Services) || len(slices.Compact(slices.Clone(g.Services))) != len(g.Services) {
		k.say("The services %s of a node are not in order.", strings.Join(g.Services, ", "))
	}
	hardware, image := k.c.Hardware[g.Hardware], k.c.Images[g.Image]
	if hardware == nil || hardware.Providers[k.provider].Flavor == "" ||
		!request.Allowed(g.Hardware, cmp.Or(k.r.Hardware, k.t.Defaults.Hardware), k.t.Compatibility.Hardware) {
		k.say("Hardware %s may not be used here.", g.Hardware)
	}
	if image == nil || image.Providers[k.provider].Image == "" ||
		!request.Allowed(g.Image, cmp.Or(k.r.Image, k.t.Defaults.Image), k.t.Compatibility.Images) {
		k.say("Image %s may not be used here.", g.Image)
	}
	for _, s := range g.Services {
		sc := k.t.Constraints.Services[s]
		if !k.asked[s] {
			k.say("Service %s was not asked for.", s)
		}
		if len(k.t.Compatibility.Services) > 0 && !slices.Contains(k.t.Compatibility.Services, s) {
			k.say("Service %s is not compatible with the template.", s)
		}
		if len(sc.Hardware) > 0 && !slices.Contains(sc.Hardware, g.Hardware) {
			k.say("Service %s does not support hardware %s.", s, g.Hardware)
		}
		if len(sc.Images) > 0 && !slices.Contains(sc.Images, g.Image) {
			k.say("Service %s does not accept image %s.", s, g.Image)
		}
	}
}

func (k *checker) company(g layout.NodeGroup) {
	here := func(group []string) (names []string) {
		for _, s := range group {
			if slices.Contains(g.Services, s) && !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
		return names
	}
	for _, group := range k.t.Constraints.MustCoexist {
		on := here(group)
		for _, s := range group {
			if len(on) > 0 && k.asked[s] && !slices.Contains(on, s) {
				k.say("Of %s, which must coexist, a node lacks %s.", strings.Join(group, ", "), s)
			}
		}
	}
	for _, group := range k.t.Constraints.CantCoexist {
		if len(group) > 0 && !slices.ContainsFunc(group, func(s string) bool { return !slices.Contains(g.Services, s) }) {
			k.say("A node has all of %s, which can't coexist.", strings.Join(group, ", "))
		}
	}
	for _, group := range k.t.Constraints.CantCoexistPairs {
		if on := here(group); len(on) > 1 {
			k.say("A node has %s, no two of which may coexist.", strings.Join(on, ", "))
		}
	}
	for _, s := range k.unconstrained() {
		if !slices.Contains(g.Services, s) {
			k.say("A node lacks %s, which no constraint names, so that it goes everywhere.", s)
		}
	}
}

// unconstrained returns the services of the cluster that no constraint names. What a service needs and how nodes are
// spread over zones does not count: it says nothing about which nodes a service is on.
func (k *checker) unconstrained() []string {
	named := map[string]bool{}
	limits := k.t.Constraints
	for s := range limits.Services {
		named[s] = true
	}
	for _, s := range slices.Concat(slices.Concat(limits.MustCoexist, limits.CantCoexist, limits.CantCoexistPairs)...) {
		named[s] = true
	}
	for _, ratio := range limits.Ratios {
		named[ratio.Service], named[ratio.Of] = true, true
	}
	var out []string
	for s := range k.asked {
		if !named[s] {
			out = append(out, s)
		}
	}
	sort.Strings(out)
	return out
}

func (k *checker) resources(g layout.NodeGroup) {
	hardware := k.c.Hardware[g.Hardware]
	if hardware == nil {
		return
	}
	has := hardware.Providers[k.provider]
	var needs template.Requirements
	for _, s := range g.Services {
		if service := k.c.Services[s]; service != nil {
			needs.CPU += max(0, service.Needs.CPU)
			needs.MemoryGB += max(0, service.Needs.MemoryGB)
			needs.DiskGB += max(0, service.Needs.DiskGB)
			needs.GPUs += max(0, service.Needs.GPUs)
		}
	}
	compare := func(need, offer float64, what string) {
		if offer > 0 && need > offer*(1+1e-9)+1e-5 {
			k.say("%s need %g %s of hardware %s, which has %g.", strings.Join(g.Services, ", "), need, what, g.Hardware, offer)
		}
	}
	compare(needs.CPU, has.CPU, "CPU")
	compare(needs.MemoryGB, has.MemoryGB, "GB of memory")
	compare(needs.DiskGB, has.DiskGB, "GB of disk")
	if needs.GPUs > has.GPUs {
		k.say("%s need %d GPUs of hardware %s, which has %d.", strings.Join(g.Services, ", "), needs.GPUs, g.Hardware, has.GPUs)
	}
}

func (k *checker) counts() {
	for s := range k.asked {
		sc, written := k.t.Constraints.Services[s]
		least := max(1, sc.Min)
		if sc.MinSet && sc.Min <= 0 {
			least = 0
		}
		// A block of services that must coexist is as wanted as the most wanted of them, which company sees to.
		if k.count[s] < least {
			k.say("Service %s is on %s, and must be on at least %d.", s, humanize.Count(k.count[s], "node"), least)
		}
		if written && k.count[s] > max(0, sc.Max) {
			k.say("Service %s is on %s, and can be on at most %d.", s, humanize.Count(k.count[s], "node"), sc.Max)
		}
	}
	for _, ratio := range k.t.Constraints.Ratios {
		if k.asked[ratio.Service] && k.asked[ratio.Of] && k.count[ratio.Service]*max(1, ratio.Per) < k.count[ratio.Of] {
			k.say("Service %s is on %s, though there must be one for every %d of the %d with %s.", ratio.Service,
				humanize.Count(k.count[ratio.Service], "node"), ratio.Per, k.count[ratio.Of], ratio.Of)
		}
	}
}

func (k *checker) hardware() {
	nodes := map[string]int{}
	types := map[string]string{}
	for _, g := range k.l.Groups {
		nodes[g.Hardware] += g.Count
		who := strings.Join(g.Services, ", ")
		was, known := types[who]
		if is := g.Hardware + " and " + g.Image; !known {
			types[who] = is
		} else if was != is && !k.t.Constraints.MixedHardware {
			k.say("Nodes with %s have %s as well as %s.", who, was, is)
		}
	}
	for name, limit := range k.t.Constraints.Hardware {
		if nodes[name] > max(0, limit) {
			k.say("There are %s of hardware %s, and may be at most %d.", humanize.Count(nodes[name], "node"), name, limit)
		}
	}
}

func (k *checker) zones() {
	rule, provider := k.t.Constraints.Zones, k.c.Providers[k.provider]
	if rule == nil || provider == nil {
		return
	}
	for _, g := range k.l.Groups {
		if !slices.Contains(provider.Zones, g.Zone) {
			k.say("Provider %s has no zone %q.", k.provider, g.Zone)
		}
	}
	even := func(who string, counts func(g layout.NodeGroup) bool) {
		inZone := map[string]int{}
		for _, g := range k.l.Groups {
			if counts(g) {
				inZone[g.Zone] += g.Count
			}
		}
		var low, high string
		for i, z := range provider.Zones {
			if i == 0 || inZone[z] < inZone[low] {
				low = z
			}
			if i == 0 || inZone[z] > inZone[high] {
				high = z
			}
		}
		if inZone[high]-inZone[low] > max(1, rule.MaxSkew) {
			k.say("Zone %s has %s%s and zone %s has %d, which is more than %d apart.", high, humanize.Count(inZone[high], "node"), who,
				low, inZone[low], max(1, rule.MaxSkew))
		}
	}
	if len(rule.Services) == 0 {
		even("", func(layout.NodeGroup) bool { return true })
	}
	for _, s := range rule.Services {
		even(" with "+s, func(g layout.NodeGroup) bool { return slices.Contains(g.Services, s) })
	}
}

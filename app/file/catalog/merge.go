package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// merging is a template while it is put together from its layers. The rules are Coopr's: the last that says a single value wins,
// lists of names are joined, keys of the configuration and limits of a service are taken as a whole from the last that has them.
// Unlike there, nothing that a partial template says is lost.
type merging struct {
	c      *checker
	of     *form.Entry
	out    *template.Template
	from   form.Layer
	locked map[string]form.Layer // by immutable path: who locked it
}

// merge makes one template of layers, of which the last is the template itself.
func (c *checker) merge(of *form.Entry, layers []form.Layer) *template.Template {
	own := layers[len(layers)-1].Template
	about := own.About
	about.Taken, about.From = map[string]template.Origin{}, map[string]string{}
	m := &merging{c: c, of: of, locked: map[string]form.Layer{}, out: &template.Template{
		About: about, Extends: own.Extends, Includes: own.Includes, Partial: own.Partial, State: own.State, Version: own.Version, ReplacedBy: own.ReplacedBy,
		Defaults:    template.Defaults{Services: []string{}, Config: map[string]any{}},
		Constraints: template.Constraints{Services: map[string]template.ServiceConstraint{}, Size: form.SizeDoc{}.Sizes()},
		Links:       []app.Link{},
	}}
	for _, l := range layers {
		m.from = l
		m.defaults()
		m.compatibility()
		m.constraints()
		m.rest()
		// What a template locks, it may say itself.
		for _, path := range l.Template.Immutable {
			if _, ok := m.locked[path]; !ok {
				m.locked[path] = l
				m.took("immutable."+path, "immutable")
				m.out.Immutable = append(m.out.Immutable, path)
			}
		}
	}
	return m.out
}

// took notes where a part comes from. At are the names of the place in the layer it comes from, the nearest first; a line that is
// not noted there is looked for in the file.
func (m *merging) took(part string, at ...string) {
	t := m.from.Template
	m.out.From[part] = t.Name
	for _, place := range append([]string{part}, at...) {
		if line := t.Lines[place]; line > 0 {
			m.out.Taken[part] = template.Origin{File: t.Origin.File, Line: line}
			return
		}
	}
	path := []any{}
	for _, key := range strings.Split(at[len(at)-1], ".") {
		path = append(path, key)
	}
	m.out.Taken[part] = template.Origin{File: t.Origin.File, Line: m.from.Entry.At(path...).Line}
}

// free reports whether the layer may say a part, and reports where not.
func (m *merging) free(part string, path ...any) bool {
	for _, locked := range slices.Sorted(maps.Keys(m.locked)) {
		by := m.locked[locked]
		if by.Entry == m.from.Entry || part != locked && !strings.HasPrefix(part, locked+".") && !strings.HasPrefix(locked, part+".") {
			continue
		}
		if strings.HasPrefix(locked, part+".") && !m.changesUnder(part, locked) {
			continue
		}
		at := by.Template.Origin
		at.Line = by.Entry.At("immutable").Line
		m.c.reportAt(m.of, m.from.Entry, path, "remove it", "%s is made immutable by %s (%s)%s", locked,
			form.Key{Kind: form.KindTemplate, Name: by.Template.Name}, at, notOffered(m.of))
		return false
	}
	return true
}

// changesUnder reports whether a key of the configuration that is taken as a whole would change what is locked somewhere in it.
func (m *merging) changesUnder(part, locked string) bool {
	o := template.Override{Config: m.from.Template.Defaults.Config}
	standing := template.Template{Immutable: []string{locked}, Defaults: m.out.Defaults}
	name := strings.TrimPrefix(part, "config.")
	if standing.CheckImmutable(o) != nil {
		return true
	}
	// What is not said again would be gone.
	without := template.Override{Config: m.out.Defaults.Config}
	standing.Defaults = template.Defaults{Config: map[string]any{name: m.from.Template.Defaults.Config[name]}}
	return standing.CheckImmutable(without) != nil
}

func (m *merging) defaults() {
	from, to := &m.from.Template.Defaults, &m.out.Defaults
	for i, s := range from.Services {
		if !slices.Contains(to.Services, s) && m.free("services", "defaults", "services", i) {
			to.Services = append(to.Services, s)
			m.took("defaults.services."+s, "defaults.services")
		}
	}
	for _, v := range []struct {
		key      string
		from, to *string
	}{
		{"provider", &from.Provider, &to.Provider}, {"hardware", &from.Hardware, &to.Hardware},
		{"image", &from.Image, &to.Image}, {"dns_suffix", &from.DNSSuffix, &to.DNSSuffix},
	} {
		if *v.from != "" && m.free(v.key, "defaults", v.key) {
			*v.to = *v.from
			m.took("defaults."+v.key, "defaults."+v.key)
		}
	}
	if from.Prefer != "" && m.free("prefer", "defaults", "prefer") {
		to.Prefer = from.Prefer
		m.took("defaults.prefer", "defaults.prefer")
	}
	for _, name := range slices.Sorted(maps.Keys(from.Config)) {
		if m.free("config."+name, "defaults", "config", name) {
			to.Config[name] = from.Config[name]
			m.tookConfig(name)
		}
	}
}

// tookConfig notes where a key of the configuration comes from. Keys may hold dots, so it is not looked for by its path.
func (m *merging) tookConfig(name string) {
	line := m.from.Entry.At("defaults", "config", name).Line
	if _, _, found := m.from.Entry.Find([]any{"defaults", "config", name}); !found {
		line = m.from.Entry.At("defaults", "services").Line // it came with a service
	}
	m.out.From["defaults.config."+name] = m.from.Template.Name
	m.out.Taken["defaults.config."+name] = template.Origin{File: m.from.Template.Origin.File, Line: line}
}

func (m *merging) compatibility() {
	from, to := m.from.Template.Compatibility, &m.out.Compatibility
	m.union(&to.Services, from.Services, "compatibility.services")
	m.union(&to.Hardware, from.Hardware, "compatibility.hardware")
	m.union(&to.Images, from.Images, "compatibility.images")
}

func (m *merging) union(to *[]string, from []string, path string) {
	for _, n := range from {
		if !slices.Contains(*to, n) {
			*to = append(*to, n)
			m.took(path+"."+n, path)
			if _, ok := m.out.Taken[path]; !ok {
				m.took(path, path)
			}
		}
	}
}

func (m *merging) constraints() {
	from, to := &m.from.Template.Constraints, &m.out.Constraints
	m.groups(&to.MustCoexist, from.MustCoexist, "must_coexist")
	m.groups(&to.CantCoexist, from.CantCoexist, "cant_coexist")
	m.groups(&to.CantCoexistPairs, from.CantCoexistPairs, "cant_coexist_pairs")
	for i, r := range from.Ratios {
		if !slices.Contains(to.Ratios, r) {
			m.took(fmt.Sprintf("constraints.ratios[%d]", len(to.Ratios)), fmt.Sprintf("constraints.ratios[%d]", i), "constraints.ratios")
			to.Ratios = append(to.Ratios, r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from.Services)) {
		at := "constraints.services." + name
		to.Services[name] = from.Services[name]
		m.took(at, "constraints.services")
		for _, key := range []string{"min", "max", "hardware", "images"} {
			delete(m.out.Taken, at+"."+key)
			if m.from.Template.Lines[at+"."+key] > 0 {
				m.took(at+"."+key, at)
			}
		}
	}
	if m.says("constraints", "size") {
		to.Size = from.Size
		m.took("constraints.size", "constraints.size")
	}
	if m.says("constraints", "mixed_hardware") {
		to.MixedHardware = from.MixedHardware
		m.took("constraints.mixed_hardware", "constraints.mixed_hardware")
	}
	if from.Zones != nil {
		to.Zones = from.Zones
		m.took("constraints.zones", "constraints.zones")
	}
	for _, name := range slices.Sorted(maps.Keys(from.Hardware)) {
		if to.Hardware == nil {
			to.Hardware = map[string]int{}
		}
		to.Hardware[name] = from.Hardware[name]
		m.took("constraints.hardware."+name, "constraints.hardware")
	}
	if from.Hosts != nil {
		to.Hosts = from.Hosts
		for part := range m.from.Template.Lines {
			if strings.HasPrefix(part, "constraints.hosts.") {
				m.took(part, "constraints.hosts")
			}
		}
		m.took("constraints.hosts", "constraints.hosts")
	}
}

// groups joins groups of services. A service counts once in a group, and a group once.
func (m *merging) groups(to *[][]string, from [][]string, which string) {
	for i, g := range from {
		var group []string
		for _, s := range g {
			if !slices.Contains(group, s) {
				group = append(group, s)
			}
		}
		same := func(have []string) bool {
			return slices.Equal(slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(group)))
		}
		if !slices.ContainsFunc(*to, same) {
			m.took(fmt.Sprintf("constraints.%s[%d]", which, len(*to)), fmt.Sprintf("constraints.%s[%d]", which, i), "constraints."+which)
			*to = append(*to, group)
		}
	}
}

// says reports whether the layer itself says something there.
func (m *merging) says(path ...any) bool {
	_, _, found := m.from.Entry.Find(path)
	return found
}

func (m *merging) rest() {
	t := m.from.Template
	// Coopr writes leases out that say nothing.
	if m.says("lease") && (!m.from.Entry.Coopr || t.Lease != template.Lease{}) && m.free("lease", "lease") {
		m.out.Lease = t.Lease
		m.took("lease", "lease")
	}
	for _, l := range t.Links {
		if !slices.ContainsFunc(m.out.Links, func(have app.Link) bool { return have.URL == l.URL }) {
			m.took(fmt.Sprintf("links[%d]", len(m.out.Links)), "links")
			m.out.Links = append(m.out.Links, l)
		}
	}
	m.outputs(t.Outputs)
	for i, p := range t.Parameters {
		if at := slices.IndexFunc(m.out.Parameters, func(have template.Parameter) bool { return have.Name == p.Name }); at >= 0 {
			m.out.Parameters[at] = p
		} else {
			m.out.Parameters = append(m.out.Parameters, p)
		}
		m.out.From["parameters."+p.Name] = t.Name
		m.out.Taken["parameters."+p.Name] = template.Origin{File: t.Origin.File, Line: m.from.Entry.At("parameters", i).Line}
	}
	if t.Batches != nil {
		m.out.Batches = t.Batches
		m.took("batches", "batches")
	}
	if t.Health != nil {
		m.out.Health = t.Health
		m.took("health", "health")
	}
	if t.Idle != nil {
		m.out.Idle = t.Idle
		m.took("idle", "idle")
	}
	m.actions(t.Actions)
	if t.Scaling != nil {
		m.out.Scaling = t.Scaling
		m.took("scaling", "scaling")
	}
	if t.Firewall != nil {
		m.out.Firewall = t.Firewall
		m.took("firewall", "firewall")
	}
	m.labels(t.Labels)
	for _, name := range slices.Sorted(maps.Keys(t.FallbackHardware)) {
		if m.out.FallbackHardware == nil {
			m.out.FallbackHardware = map[string][]string{}
		}
		m.out.FallbackHardware[name] = t.FallbackHardware[name]
		m.took("fallback_hardware."+name, "fallback_hardware")
	}
	if len(t.Places) > 0 {
		m.out.Places = t.Places
		m.took("places", "places")
	}
	if t.PlaceOrder != "" {
		m.out.PlaceOrder = t.PlaceOrder
		m.took("place_order", "place_order")
	}
	if t.PartialResults != nil {
		m.out.PartialResults = t.PartialResults
		m.took("partial_results", "partial_results")
	}
	if t.KeepFailed != "" {
		m.out.KeepFailed = t.KeepFailed
		m.took("keep_failed", "keep_failed")
	}
	for _, h := range t.Hooks {
		if at := slices.IndexFunc(m.out.Hooks, func(have template.OperationHook) bool { return have.Name == h.Name }); at >= 0 {
			m.out.Hooks[at] = h
		} else {
			m.out.Hooks = append(m.out.Hooks, h)
		}
		m.took("hooks."+h.Name, "hooks")
	}
}

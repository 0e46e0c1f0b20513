package catalog

import (
	"fmt"
	"maps"
	"slices"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// resources warns of a service that no machine is large enough for. The rest of the catalog works, so it is only a
// warning; the solver refuses a cluster with it and says why.
func (c *checker) resources(e *form.Entry, needs template.Requirements) {
	for _, r := range []struct {
		key   string
		need  float64
		offer func(template.Flavor) float64
	}{
		{"cpu", needs.CPU, func(f template.Flavor) float64 { return f.CPU }},
		{"memory_gb", needs.MemoryGB, func(f template.Flavor) float64 { return f.MemoryGB }},
		{"disk_gb", needs.DiskGB, func(f template.Flavor) float64 { return f.DiskGB }},
	} {
		if most, which := c.largest(r.offer); r.need > most && which != "" {
			path := []any{"needs", r.key}
			c.report(e, form.SeverityWarning, path, "", "%s is %v, but no hardware offers more than %v (%s), so no node can run this service",
				e.Spell(path), r.need, most, which)
		}
	}
	if most, which := c.mostGPUs(); needs.GPUs > most {
		path, hint := []any{"needs", "gpus"}, ""
		if most == 0 {
			hint = "List the GPUs of hardware types that have them: gpus: 1."
		}
		c.report(e, form.SeverityWarning, path, hint, "%s is %d, but %s, so no node can run this service",
			e.Spell(path), needs.GPUs, which)
	}
}

// mostGPUs returns how many GPUs hardware has at most, and that in words: it has none where it does not say so.
func (c *checker) mostGPUs() (most int, words string) {
	words = "no hardware has GPUs"
	for _, e := range sortedEntries(c.entries) {
		h, ok := e.Value.(*template.HardwareType)
		if !ok {
			continue
		}
		for _, provider := range slices.Sorted(maps.Keys(h.Providers)) {
			if n := h.Providers[provider].GPUs; n > most {
				most, words = n, fmt.Sprintf("no hardware has more than %d (%s on %s)", n, h.Name, provider)
			}
		}
	}
	return most, words
}

// largest returns the most of a resource that any hardware offers, and which it is: "" where one does not say what it
// offers, or there is none.
func (c *checker) largest(offer func(template.Flavor) float64) (most float64, which string) {
	for _, e := range sortedEntries(c.entries) {
		h, ok := e.Value.(*template.HardwareType)
		if !ok {
			continue
		}
		for _, provider := range slices.Sorted(maps.Keys(h.Providers)) {
			switch x := offer(h.Providers[provider]); {
			case x == 0:
				return 0, ""
			case x > most:
				most, which = x, fmt.Sprintf("%s on %s", h.Name, provider)
			}
		}
	}
	return most, which
}

func (c templateChecker) ratios(e *form.Entry, ratios []template.Ratio) {
	for i, r := range ratios {
		at := []any{"constraints", "ratios", i}
		c.refer(e, form.KindService, r.Service, append(slices.Clone(at), "service")...)
		c.refer(e, form.KindService, r.Of, append(slices.Clone(at), "of")...)
		if r.Service != "" && r.Service == r.Of {
			c.report(e, rule(e), at, "", "%s compares %q with itself, which has no effect", e.Spell(at), r.Of)
		}
	}
}

func (c templateChecker) zones(e *form.Entry, t *template.Template) {
	z := t.Constraints.Zones
	if z == nil {
		return
	}
	for i, n := range z.Services {
		c.refer(e, form.KindService, n, "constraints", "zones", "services", i)
	}
	if p, ok := c.value(form.KindProvider, t.Defaults.Provider).(*template.ProviderSpec); ok && len(p.Zones) == 0 {
		at := []any{"constraints", "zones"}
		c.report(e, form.SeverityWarning, at, "add zones: [a, b] to the provider", "%s spreads nodes over zones, but %s, the default, has none",
			e.Spell(at), form.Key{Kind: form.KindProvider, Name: t.Defaults.Provider})
	}
}

func (c templateChecker) hosts(e *form.Entry, r *template.HostRule) {
	if r == nil {
		return
	}
	for key, names := range map[string][]string{"alone": r.Alone, "separate": r.Separate} {
		for i, n := range names {
			at := []any{"constraints", "hosts", key, i}
			c.refer(e, form.KindService, n, at...)
			if slices.Index(names, n) < i {
				c.report(e, rule(e), at, "", "%s names %q twice", e.Spell(at[:3]), n)
			}
		}
	}
	for i, a := range r.Apart {
		at := []any{"constraints", "hosts", "apart", i}
		c.refer(e, form.KindService, a.Service, append(slices.Clone(at), "service")...)
		for j, n := range a.From {
			c.refer(e, form.KindService, n, append(slices.Clone(at), "from", j)...)
		}
		if len(a.From) == 0 && !e.Broken {
			c.report(e, rule(e), at, "", "%s has no effect on %q: from is empty", e.Spell(at), a.Service)
		}
	}
}

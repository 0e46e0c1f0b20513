package catalog

import (
	"maps"
	"slices"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// fallbackHardware checks what machines may be made of instead: it exists, each once, and is no smaller wherever a provider has both.
func (c templateChecker) fallbackHardware(e *form.Entry, t *template.Template) {
	for _, name := range slices.Sorted(maps.Keys(t.FallbackHardware)) {
		at := []any{"fallback_hardware", name}
		c.refer(e, form.KindHardware, name, at...)
		others := t.FallbackHardware[name]
		if len(others) > template.MaxFallbacks {
			c.report(e, rule(e), at, "", "%s lists %d hardware types; at most %d are allowed", e.Spell(at), len(others), template.MaxFallbacks)
			continue
		}
		asked, _ := c.value(form.KindHardware, name).(*template.HardwareType)
		for i, other := range others {
			at := []any{"fallback_hardware", name, i}
			switch {
			case other == name:
				c.report(e, rule(e), at, "remove it", "%s is the hardware it replaces", e.Spell(at))
				continue
			case slices.Index(others, other) < i:
				c.report(e, rule(e), at, "remove one", "%s lists %q twice", e.Spell(at[:2]), other)
				continue
			}
			c.refer(e, form.KindHardware, other, at...)
			h, _ := c.value(form.KindHardware, other).(*template.HardwareType)
			if asked == nil || h == nil {
				continue
			}
			for _, p := range slices.Sorted(maps.Keys(asked.Providers)) {
				f, has := h.Providers[p]
				if !has {
					continue
				}
				if why := f.Smaller(asked.Providers[p]); why != "" {
					c.report(e, rule(e), at, "use hardware of the same size or larger", "%s is smaller than %s at provider %s: %s", e.Spell(at), name, p, why)
					break
				}
			}
		}
	}
}

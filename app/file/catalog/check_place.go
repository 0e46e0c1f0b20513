package catalog

import (
	"slices"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// places checks where a template's clusters may be created: what is named exists, and each place is listed once.
func (c templateChecker) places(e *form.Entry, t *template.Template) {
	if err := t.PlaceOrder.Check(); err != nil {
		c.report(e, rule(e), []any{"place_order"}, "use cheapest, fastest or listed", "%q is no place order", string(t.PlaceOrder))
	}
	if len(t.Places) > template.MaxPlaces {
		c.report(e, rule(e), []any{"places"}, "", "places lists %d places; at most %d are allowed", len(t.Places), template.MaxPlaces)
		return
	}
	for i, p := range t.Places {
		at := []any{"places", i}
		switch {
		case p == template.Place{}:
			c.report(e, rule(e), at, "name a provider, a zone or hardware", "%s names no place", e.Spell(at))
			continue
		case slices.Index(t.Places, p) < i:
			c.report(e, rule(e), at, "remove one", "places lists %s twice", p.Text())
			continue
		}
		if p.Provider != "" {
			c.refer(e, form.KindProvider, p.Provider, "places", i, "provider")
		}
		if p.Hardware != "" {
			c.refer(e, form.KindHardware, p.Hardware, "places", i, "hardware")
		}
		spec, _ := c.value(form.KindProvider, p.Provider).(*template.ProviderSpec)
		if p.Zone != "" && spec != nil && !slices.Contains(spec.Zones, p.Zone) {
			c.report(e, rule(e), []any{"places", i, "zone"}, "add it to the provider's zones, or remove it here", "provider %s has no zone %q", p.Provider, p.Zone)
		}
	}
}

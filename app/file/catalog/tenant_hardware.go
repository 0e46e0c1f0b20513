package catalog

import (
	"maps"
	"slices"

	appfamily "muster/app/family"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// flavorKey is a flavor of a provider.
type flavorKey struct{ provider, flavor string }

// offered returns the flavors in hardware types of the installation and in those that a superadmin saved. If several types have a flavor, the first
// by name counts.
func (c *checker) offered() map[flavorKey]template.Flavor {
	if c.flavors != nil {
		return c.flavors
	}
	types := map[string]*template.HardwareType{}
	if c.installation != nil {
		maps.Copy(types, c.installation.Hardware)
	}
	for k, e := range c.entries {
		if h, ok := e.Value.(*template.HardwareType); ok && e.Own && e.Trusted && !e.Broken {
			types[k.Name] = h
		}
	}
	c.flavors = map[flavorKey]template.Flavor{}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		for provider, f := range types[name].Providers {
			k := flavorKey{provider, f.Flavor}
			if _, there := c.flavors[k]; !there {
				c.flavors[k] = f
			}
		}
	}
	return c.flavors
}

// shared reports whether a provider is an account that the tenant does not pay for: the installation's, or one that a superadmin saved.
func (c *checker) shared(provider string) (*template.ProviderSpec, bool) {
	p, ok := c.value(form.KindProvider, provider).(*template.ProviderSpec)
	return p, ok && !p.Untrusted
}

// ownHardware limits a hardware type that a tenant's admin wrote to what the installation offers on its accounts: there, flavors, prices and sizes are the
// installation's, so other figures can't get around a quota. Fields that cost money or give machines rights in the account are removed. It changes the entry
// itself, so all readers of the catalog see the limited one.
func (c *checker) ownHardware(e *form.Entry, h *template.HardwareType) {
	if !h.Untrusted {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(h.Providers)) {
		spec, shared := c.shared(n)
		if !shared {
			continue
		}
		own := h.Providers[n]
		known, ok := c.offered()[flavorKey{n, own.Flavor}]
		if !ok {
			var names []string
			for k := range c.offered() {
				if k.provider == n {
					names = append(names, k.flavor)
				}
			}
			c.report(e, form.SeverityError, []any{"providers", n, "flavor"}, form.DidYouMean(own.Flavor, names),
				"provider %q in the shared catalog doesn't offer the flavor %q", n, own.Flavor)
			delete(h.Providers, n)
			continue
		}
		if own.CostPerHour != known.CostPerHour && own.CostPerHour != 0 || own.CPU != known.CPU && own.CPU != 0 || own.MemoryGB != known.MemoryGB && own.MemoryGB != 0 ||
			own.DiskGB != known.DiskGB && own.DiskGB != 0 || own.GPUs != known.GPUs && own.GPUs != 0 || own.GPU != known.GPU && own.GPU != "" ||
				own.AsleepCostPerHour != nil && (known.AsleepCostPerHour == nil || *own.AsleepCostPerHour != *known.AsleepCostPerHour) {
			c.report(e, form.SeverityWarning, []any{"providers", n}, "leave out the price and sizes",
				"provider %q is in the shared catalog, so the price and sizes of the flavor %q come from there", n, own.Flavor)
		}
		extra := maps.Clone(known.Extra)
		for name, value := range c.ownExtra(e, spec, n, c.fieldsOf(c.families.Providers, spec.Type).FlavorFields, own.Extra, known.Extra) {
			if extra == nil {
				extra = map[string]string{}
			}
			extra[name] = value
		}
		known.Extra = extra
		h.Providers[n] = known
	}
}

// ownImage leaves out of an image type that a tenant's admin wrote what only the account's owner may say.
func (c *checker) ownImage(e *form.Entry, i *template.ImageType) {
	if !i.Untrusted {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(i.Providers)) {
		if spec, shared := c.shared(n); shared {
			own := i.Providers[n]
			own.Extra = c.ownExtra(e, spec, n, c.fieldsOf(c.families.Providers, spec.Type).ImageFields, own.Extra, nil)
			i.Providers[n] = own
		}
	}
}

// ownExtra returns the extra fields that an entry may set on an account that is not the tenant's own, and reports the others unless the
// installation's entry has
// the same value. Fields that the provider does not declare have no effect, and are kept.
func (c *checker) ownExtra(e *form.Entry, spec *template.ProviderSpec, provider string, fields []appfamily.Field, extra, known map[string]string) map[string]string {
	out := maps.Clone(extra)
	for _, f := range fields {
		value, said := extra[f.Name]
		if !said || f.Runs || f.MaySet(false, false) { // what runs on a host is judged where a cluster is made
			continue
		}
		delete(out, f.Name)
		if value == known[f.Name] {
			continue
		}
		a := appfamily.OnlyInstallation(f.Name, "on provider "+spec.Name+" it", f.Name)
		c.report(e, form.SeverityError, []any{"providers", provider, f.Name}, a.Hint, "%s", a.Message)
	}
	return out
}

// fieldsOf returns the descriptor of a family's member; an empty one where the member is not known.
func (c *checker) fieldsOf(family []appfamily.Descriptor, member string) appfamily.Descriptor {
	for _, d := range family {
		if d.Name == member {
			return d
		}
	}
	return appfamily.Descriptor{}
}

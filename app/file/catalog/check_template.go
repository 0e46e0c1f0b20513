package catalog

import (
	"maps"
	"slices"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// templateChecker checks templates, with what the checker knows of everything else.
type templateChecker struct{ *checker }

// template checks what a template says itself, and then the whole that it makes with what it extends and includes.
func (c templateChecker) template(e *form.Entry, t *template.Template) {
	c.healthPolicy(e, t.Health)
	c.idle(e, t)
	c.scaling(e, t)
	c.actions(e, t)
	c.person(e, t.Batches, "batches")
	c.partialResults(e, t)
	c.firewall(e, t)
	c.labels(e, t)
	c.fallbackHardware(e, t)
	c.places(e, t)
	c.volumes(e, t)
	c.sleeps(e, t)
	c.hooks(e, t.Hooks)
	c.outputs(e, t)
	c.life(e, t)
	c.defaults(e, t)
	for _, list := range []struct {
		kind  form.Kind
		key   string
		names []string
	}{
		{form.KindService, "services", t.Compatibility.Services},
		{form.KindHardware, "hardware", t.Compatibility.Hardware},
		{form.KindImage, "images", t.Compatibility.Images},
	} {
		for i, n := range list.names {
			c.refer(e, list.kind, n, "compatibility", list.key, i)
		}
	}
	c.groups(e, "must_coexist", t.Constraints.MustCoexist)
	c.groups(e, "cant_coexist", t.Constraints.CantCoexist)
	c.groups(e, "cant_coexist_pairs", t.Constraints.CantCoexistPairs)
	c.ratios(e, t.Constraints.Ratios)
	c.zones(e, t)
	c.hosts(e, t.Constraints.Hosts)
	for _, n := range slices.Sorted(maps.Keys(t.Constraints.Hardware)) {
		c.refer(e, form.KindHardware, n, "constraints", "hardware", n)
	}
	for _, n := range slices.Sorted(maps.Keys(t.Constraints.Services)) {
		c.constraint(e, n, t.Constraints.Services[n])
	}
	c.parameters(e, t)
	// A part need not be good for itself, and of what cannot be made whole the reason has been reported.
	if whole := e.Whole; whole != nil && !t.Partial {
		c.wholeTemplate(e, whole)
	} else {
		c.limits(e, t)
		if t.Extends == "" && len(t.Includes) == 0 && !t.Partial {
			c.wholeDefaults(e, t) // it could not be read whole; some can still be said
		}
	}
}

// wholeTemplate checks what the parts of a template must be together.
func (c templateChecker) wholeTemplate(e *form.Entry, t *template.Template) {
	if t != e.Value {
		// Places are those of the parts, wherever they are written.
		inherited := *e
		inherited.Inherited = t
		if !slices.ContainsFunc(e.Layers, func(l form.Layer) bool { return len(template.CheckParameters(l.Template.Parameters)) > 0 }) {
			c.parameters(&inherited, t)
		}
		e = &inherited
	}
	c.wholeDefaults(e, t)
	c.limits(e, t)
}

// limits checks what is said in numbers.
func (c templateChecker) limits(e *form.Entry, t *template.Template) {
	for _, n := range slices.Sorted(maps.Keys(t.Constraints.Services)) {
		at := []any{"constraints", "services", n}
		if sc, size := t.Constraints.Services[n], t.Constraints.Size; sc.Min > size.Max {
			c.report(e, form.SeverityError, at, "", "%s: min %d is more than constraints.size allows (%d)", e.Spell(at), sc.Min, size.Max)
		}
	}
	if s, at := t.Constraints.Size, []any{"constraints", "size", "one_of"}; len(s.OneOf) > 0 {
		switch n := len(s.OneOf); {
		case s.OneOf[0] < 1 && !e.Broken, // what can't be read isn't a number that is too small
			s.OneOf[n-1] > template.MaxNodes:
			c.report(e, form.SeverityError, at, "", "%s: sizes must be from 1 to %d", e.Spell(at), template.MaxNodes)
		case n > template.MaxSizes:
			c.report(e, form.SeverityError, at, "use min and max", "%s lists %d sizes; at most %d are allowed", e.Spell(at), n, template.MaxSizes)
		case s.Min != s.OneOf[0] || s.Max != s.OneOf[n-1]:
			c.report(e, form.SeverityError, at, "leave out min and max", "%s: sizes (%s) contradict min or max", e.Spell(at), s.Text())
		}
	} else if s.Min > s.Max {
		c.report(e, form.SeverityError, []any{"constraints", "size"}, "", "%s: min %d is greater than max %d", e.Spell([]any{"constraints", "size"}), s.Min, s.Max)
	}
	if l := t.Lease; l.Max > 0 && l.Initial > l.Max {
		c.report(e, form.SeverityError, []any{"lease", "initial"}, "", "%s is longer than max", e.Spell([]any{"lease", "initial"}))
	} else if l.Max > 0 && l.Initial == 0 && !e.Broken {
		c.report(e, rule(e), []any{"lease"}, "set initial", "%s: initial never expires, but max sets a limit", e.Spell([]any{"lease"}))
	}
}

// defaults checks what is named there.
func (c templateChecker) defaults(e *form.Entry, t *template.Template) {
	d := t.Defaults
	for i, n := range d.Services {
		c.refer(e, form.KindService, n, "defaults", "services", i)
		if n != "" && slices.Index(d.Services, n) < i {
			c.report(e, rule(e), []any{"defaults", "services", i}, "", "%s names %q twice", e.Spell([]any{"defaults", "services"}), n)
		}
	}
	c.refer(e, form.KindProvider, d.Provider, "defaults", "provider")
	c.refer(e, form.KindHardware, d.Hardware, "defaults", "hardware")
	c.refer(e, form.KindImage, d.Image, "defaults", "image")
}

// wholeDefaults checks what a request gets that says nothing.
func (c templateChecker) wholeDefaults(e *form.Entry, t *template.Template) {
	d := t.Defaults
	if len(d.Services) == 0 && !e.Broken {
		c.report(e, rule(e), []any{"defaults", "services"}, "", "%s is empty: a cluster needs at least one service", e.Spell([]any{"defaults", "services"}))
	}
	for i, n := range d.Services {
		c.allowed(e, form.KindService, n, t.Compatibility.Services, "services", "defaults", "services", i)
	}
	if d.Hardware != "" {
		c.allowed(e, form.KindHardware, d.Hardware, t.Compatibility.Hardware, "hardware", "defaults", "hardware")
		if h, ok := c.value(form.KindHardware, d.Hardware).(*template.HardwareType); ok && d.Provider != "" {
			if _, has := h.Providers[d.Provider]; !has {
				c.unmapped(e, form.KindHardware, d.Hardware, d.Provider)
			}
		}
	}
	if d.Image != "" {
		c.allowed(e, form.KindImage, d.Image, t.Compatibility.Images, "images", "defaults", "image")
		if i, ok := c.value(form.KindImage, d.Image).(*template.ImageType); ok && d.Provider != "" {
			if _, has := i.Providers[d.Provider]; !has {
				c.unmapped(e, form.KindImage, d.Image, d.Provider)
			}
		}
	}
}

func (c *checker) value(k form.Kind, name string) any {
	if e := c.entries[form.Key{Kind: k, Name: name}]; e != nil {
		return e.Value
	}
	return nil
}

// allowed checks that a default is among what the template itself allows.
func (c templateChecker) allowed(e *form.Entry, k form.Kind, name string, list []string, listKey string, path ...any) {
	if len(list) > 0 && !slices.Contains(list, name) && c.entries[form.Key{Kind: k, Name: name}] != nil {
		c.report(e, rule(e), path, "add it to the list", "%s is %s, which %s doesn't list", e.Spell(path), form.Key{Kind: k, Name: name},
			e.Spell([]any{"compatibility", listKey}))
	}
}

// unmapped reports defaults that cannot be had together.
func (c templateChecker) unmapped(e *form.Entry, k form.Kind, name, provider string) {
	c.report(e, rule(e), []any{"defaults", string(k)}, "", "%s has no entry for provider %q, the default", form.Key{Kind: k, Name: name}, provider)
}

func (c templateChecker) groups(e *form.Entry, which string, groups [][]string) {
	for i, g := range groups {
		for j, n := range g {
			c.refer(e, form.KindService, n, "constraints", which, i, j)
			if which == "cant_coexist_pairs" && slices.Index(g, n) < j {
				c.report(e, rule(e), []any{"constraints", which, i, j}, "", "%s names %q twice", e.Spell([]any{"constraints", which, i}), n)
			}
		}
		if len(g) < 2 && !e.Broken {
			c.report(e, rule(e), []any{"constraints", which, i}, "", "%s needs at least two services", e.Spell([]any{"constraints", which, i}))
		}
	}
}

func (c templateChecker) constraint(e *form.Entry, service string, sc template.ServiceConstraint) {
	at := []any{"constraints", "services", service}
	c.refer(e, form.KindService, service, at...)
	for i, n := range sc.Hardware {
		c.refer(e, form.KindHardware, n, append(slices.Clone(at), "hardware", i)...)
	}
	for i, n := range sc.Images {
		c.refer(e, form.KindImage, n, append(slices.Clone(at), "images", i)...)
	}
	if sc.Min > sc.Max {
		c.report(e, form.SeverityError, at, "", "%s: min %d is greater than max %d", e.Spell(at), sc.Min, sc.Max)
	}
}

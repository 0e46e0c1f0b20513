package catalog

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// onlySecret is a setting that is a reference and nothing else.
var onlySecret = regexp.MustCompile(`^\$\{secret:` + app.SecretName + `\}$`)

// ownProvider checks a provider that a tenant's admin wrote. Its settings may hold nothing of the server's environment, which belongs to
// the whole installation, and secrets only by their names.
func (c *checker) ownProvider(e *form.Entry, p *template.ProviderSpec) {
	if p.Type == "" || e.Broken {
		return
	}
	known := c.providerType(e, p.Type)
	if c.onHost[p.Type] && !e.Trusted && !c.options.HostAccess {
		c.report(e, form.SeverityError, []any{"type"}, "ask a superadmin to save it",
			"%s creates machines on Muster's own hosts, so only superadmins can save such a provider", p.Type)
	}
	before := c.out.Count()
	referred := c.ownSettings(e, p)
	if c.options.CheckProvider == nil || c.out.Count() > before || !known || c.options.ProviderTypes == nil {
		return
	}
	if err := c.options.CheckProvider(*p); err != nil && !c.refusedField(e, err) {
		// What refers to a secret cannot be judged here, but for whether it may be there at all.
		a := app.AsError(err)
		switch {
		case a.Code == app.EForbidden:
			c.refused(e, form.SeverityError, []any{"settings"}, err)
		case !referred[strings.TrimPrefix(a.Field, "settings.")]:
			c.refused(e, rule(e), []any{"settings"}, err)
		}
	}
}

// ownSettings returns the settings that refer to secrets.
func (c *checker) ownSettings(e *form.Entry, p *template.ProviderSpec) map[string]bool {
	referred := map[string]bool{}
	var walk func(x any, path []any)
	walk = func(x any, path []any) {
		switch x := x.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(x)) {
				walk(x[k], append(slices.Clone(path), k))
			}
		case []any:
			for i := range x {
				walk(x[i], append(slices.Clone(path), i))
			}
		case string:
			if strings.Contains(x, "${env:") {
				c.report(e, form.SeverityError, path, "save the value as a tenant secret, and use ${secret:NAME}",
					"%s: tenant providers can't read the server's environment", e.Spell(path))
				return
			}
			if !c.checkSecretReferences(e, x, path) {
				referred[fmt.Sprint(path[1])] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
		path, value := []any{"settings", name}, p.Settings[name]
		walk(value, path)
		if s, ok := value.(string); c.secret[p.Type+"."+name] && value != nil && value != "" && !(ok && (onlySecret.MatchString(s) || strings.Contains(s, "${env:"))) {
			c.report(e, form.SeverityError, path,
				"save it with `muster secret set "+catalog.ProviderSecretName(e.Name, name)+"`, and use ${secret:"+catalog.ProviderSecretName(e.Name, name)+"}",
				"%s is secret, so its value can't be written here", e.Spell(path))
		}
	}
	return referred
}

// providerDoc writes a provider. Of the installation's, settings stand as they were written, without those that are secret, refer to the
// environment, or are not known at all.
func (r *Reader) providerDoc(p *template.ProviderSpec) *form.ProviderDoc {
	d := &form.ProviderDoc{AboutDoc: form.AboutDocOf(form.KindProvider, p.About), Type: p.Type, Zones: p.Zones, Rate: form.Rate(p.Rate),
		Provisioner: p.Provisioner, Settings: p.Settings, Fields: form.UserFieldDocs(p.Fields), Currency: p.Currency, Exchange: p.ExchangeRate, VolumeCost: p.VolumeCost,
		CopyCost: p.SnapshotCost}
	if p.Tenant != "" {
		return d
	}
	d.Settings = map[string]any{}
	var settings map[string]any
	if e := r.writtenAs(p); e != nil { // else they hold what the environment did, and no one knows where
		if k, n := form.Descend(e.Node, settingsPath(e)); k != nil {
			nodes := 0
			settings, _ = (&form.Decoder{Out: &form.Reporter{}, Nodes: &nodes, Lenient: true, Private: true}).Plain(form.Follow(n), "").(map[string]any)
		}
	}
	for name, v := range settings {
		if r.mayShow(p.Type, name, v) {
			d.Settings[name] = v
		}
	}
	return d
}

func settingsPath(e *form.Entry) []string {
	if e.Coopr {
		return []string{"provisioner"}
	}
	return []string{"settings"}
}

// writtenAs returns how a provider of the installation was written; nil where this reader did not read it.
func (r *Reader) writtenAs(p *template.ProviderSpec) *form.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.bases {
		if e := b.written[p]; e != nil && e.Node != nil && e.File != "" {
			return e
		}
	}
	return nil
}

// mayShow reports whether a setting of the installation's may be seen by admins of tenants: one that its descriptor knows and that is not
// secret, and a plain value.
func (r *Reader) mayShow(kind, name string, v any) bool {
	known := slices.ContainsFunc(r.families.Providers, func(d family.Descriptor) bool {
		return d.Name == kind && slices.ContainsFunc(d.Fields, func(f family.Field) bool { return f.Name == name && !f.Secret })
	})
	switch v := v.(type) {
	case string:
		return known && !strings.Contains(v, "${")
	case map[string]any, []any:
		return false
	}
	return known
}

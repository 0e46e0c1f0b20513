package catalog

import (
	"slices"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// volumes warns where services that a template installs by default need volumes, and a provider that it names makes none.
func (c templateChecker) volumes(e *form.Entry, t *template.Template) {
	if c.options.MakesVolumes == nil {
		return
	}
	needs := slices.IndexFunc(t.Defaults.Services, func(n string) bool {
		s, ok := c.value(form.KindService, n).(*template.Service)
		return ok && len(s.Volumes) > 0
	})
	if needs < 0 {
		return
	}
	warn := func(provider string, at ...any) {
		p, ok := c.value(form.KindProvider, provider).(*template.ProviderSpec)
		if ok && !c.options.MakesVolumes(p.Type) {
			c.report(e, form.SeverityWarning, at, "choose a provider whose type makes volumes, or services that need none",
				"service %q needs volumes, and %s, of type %s, makes none", t.Defaults.Services[needs], form.Key{Kind: form.KindProvider, Name: provider}, p.Type)
		}
	}
	warn(t.Defaults.Provider, "defaults", "provider")
	for i, p := range t.Places {
		warn(p.Provider, "places", i, "provider")
	}
}

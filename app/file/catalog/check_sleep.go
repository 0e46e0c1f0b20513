package catalog

import (
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// sleeps warns where idle clusters of a template are put to sleep, and a provider that it names can't do that.
func (c templateChecker) sleeps(e *form.Entry, t *template.Template) {
	if c.options.Sleeps == nil || t.Idle == nil || t.Idle.Action() != template.IdleSleep {
		return
	}
	path := []any{"idle"}
	if t.Idle.Then != "" {
		path = append(path, "then")
	}
	warned := map[string]bool{}
	warn := func(provider string) {
		p, ok := c.value(form.KindProvider, provider).(*template.ProviderSpec)
		if !ok || c.options.Sleeps(p.Type) || warned[provider] {
			return
		}
		warned[provider] = true
		c.report(e, form.SeverityWarning, path, "use then: delete or then: warn, or another provider",
			"idle clusters are put to sleep, but machines of %s, of type %s, can't sleep",
			form.Key{Kind: form.KindProvider, Name: provider}, p.Type)
	}
	warn(t.Defaults.Provider)
	for _, p := range t.Places {
		warn(p.Provider)
	}
}

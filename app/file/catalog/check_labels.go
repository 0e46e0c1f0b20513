package catalog

import (
	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// labels checks the labels of a template by the rules of clusters' labels.
func (c templateChecker) labels(e *form.Entry, t *template.Template) {
	if err := t.Labels.Check(); err != nil {
		a := app.AsError(err)
		c.report(e, rule(e), []any{"labels"}, a.Hint, "%s: %s", e.Spell([]any{"labels"}), a.Message)
	}
}

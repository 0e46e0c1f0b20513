package catalog

import (
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// survivors checks with how many nodes a template's operations are gone on.
func (c templateChecker) survivors(e *form.Entry, t *template.Template) {
	if t.Survivors == nil {
		return
	}
	s, path, most := t.Survivors.AtLeast, []any{"survivors", "at_least"}, t.Constraints.Size.Max
	if err := s.Check(); err != nil {
		a := app.AsError(err)
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
		return
	}
	if most > 0 && !strings.HasSuffix(string(s), "%") && s.Of(most) > most {
		c.report(e, rule(e), path, "", "%s is %s, but clusters have at most %d nodes, so a partial result is never accepted", e.Spell(path), string(s), most)
	}
}

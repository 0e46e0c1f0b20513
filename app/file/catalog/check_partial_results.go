package catalog

import (
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// partialResults checks with how many nodes a template's operations are gone on.
func (c templateChecker) partialResults(e *form.Entry, t *template.Template) {
	if t.PartialResults == nil {
		return
	}
	s, path, most := t.PartialResults.MinAvailable, []any{"partial_results", "min_available"}, t.Constraints.Size.Max
	if err := s.Check(); err != nil {
		a := app.AsError(err)
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
		return
	}
	if most > 0 && !strings.HasSuffix(string(s), "%") && s.Of(most) > most {
		c.report(e, rule(e), path, "", "%s is %s, but clusters have at most %d nodes, so a partial result is never accepted", e.Spell(path), string(s), most)
	}
}

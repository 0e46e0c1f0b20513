package catalog

import (
	"strconv"
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// firewall checks what a template lets in from outside.
func (c templateChecker) firewall(e *form.Entry, t *template.Template) {
	if t.Firewall == nil {
		return
	}
	if err := t.Firewall.Check(); err != nil {
		a := app.AsError(err)
		path := []any{"firewall", "open"}
		if number, _, ok := strings.Cut(strings.TrimPrefix(a.Field, "rules["), "]"); ok {
			if i, err := strconv.Atoi(number); err == nil {
				path = append(path, i)
			}
		}
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
	}
}

package catalog

import (
	"strconv"
	"strings"

	"muster/app"
)

// firewall checks what a template lets in from outside.
func (c *checker) firewall(e *entry, t *app.Template) {
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
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.spell(path), a.Message)
	}
}

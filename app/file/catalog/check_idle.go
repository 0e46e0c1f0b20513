package catalog

import (
	"errors"
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/template"
)

// idle checks what a template says of idle clusters.
func (c *checker) idle(e *form.Entry, t *template.Template) {
	if t.Idle == nil || e.Broken {
		return
	}
	var a *app.Error
	if err := t.Idle.Check(); errors.As(err, &a) {
		path := []any{"idle"}
		if a.Field != "" {
			for _, key := range strings.Split(a.Field, ".") {
				path = append(path, key)
			}
		}
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
		return
	}
	if h := t.Health; h != nil && t.Idle.Measures() && h.Every() > t.Idle.After/2 {
		path := []any{"idle", "after"}
		c.report(e, rule(e), path, "lower health.interval, or raise idle.after", "%s must be at least twice health.interval, %s", e.Spell(path),
			humanize.DurationField(h.Every()))
	}
}

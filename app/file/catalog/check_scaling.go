package catalog

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/scaling"
	"muster/app/template"
)

// scaling checks what a template says of scaling.
func (c *checker) scaling(e *form.Entry, t *template.Template) {
	if t.Scaling == nil || e.Broken {
		return
	}
	var a *app.Error
	if err := scaling.Check(t.Scaling, time.Now()); errors.As(err, &a) {
		path := []any{"scaling"}
		for key := range strings.SplitSeq(a.Field, ".") {
			if n, err := strconv.Atoi(key); err == nil {
				path = append(path, n)
			} else if key != "" {
				path = append(path, key)
			}
		}
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
	}
}

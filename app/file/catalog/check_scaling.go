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

// anyTime is what times of a schedule are checked from: whether they come, and not too often.
var anyTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// scaling checks what a template says of scaling.
func (c *checker) scaling(e *form.Entry, t *template.Template) {
	if t.Scaling == nil || e.Broken {
		return
	}
	var a *app.Error
	if err := scaling.Check(t.Scaling, anyTime); errors.As(err, &a) {
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

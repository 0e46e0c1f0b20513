package catalog

import (
	"strings"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// person checks what people are asked at a place of an entry.
func (c *checker) person(e *form.Entry, p *template.Person, path ...any) {
	if p == nil || e.Broken {
		return
	}
	err := p.Check()
	if err == nil {
		return
	}
	for _, key := range strings.Split(err.Field, ".") {
		if key == "" {
			continue
		}
		if i, ok := listPlace(key); ok {
			path = append(path, i)
		} else {
			path = append(path, key)
		}
	}
	c.report(e, rule(e), path, err.Hint, "%s: %s", e.Spell(path), err.Message)
}

// listPlace reads the number of an entry of a list.
func listPlace(key string) (int, bool) {
	n := 0
	for _, r := range key {
		if r < '0' || r > '9' || n > 1000 {
			return 0, false
		}
		n = 10*n + int(r-'0')
	}
	return n, key != ""
}

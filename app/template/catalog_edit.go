package template

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app/humanize"
)

// InWords writes what is a duration, or no limit, as people do. The paths are of what is under a path of the entry; "" is the entry.
func InWords(text map[string]string, under string) {
	for path, v := range text {
		last := path[strings.LastIndexByte(path, '.')+1:]
		switch {
		case v == fmt.Sprint(Unlimited) && last == "max":
			delete(text, path)
		case slices.Contains([]string{"timeout", "wait", "interval"}, last) || strings.HasPrefix(under+path, "lease."):
			var n int64
			if _, err := fmt.Sscan(v, &n); err == nil && n%int64(time.Second) == 0 && n > 0 {
				text[path] = humanize.Duration(time.Duration(n))
			} else if v == "0" {
				delete(text, path)
			}
		case last == "min_set" || v == "null":
			delete(text, path)
		}
	}
}

// TemplatesSince returns the templates that are to be kept as versions after a change: those that are made of own entries, and those that were
// and are the installation's again.
func (c *Catalog) TemplatesSince(before, base *Catalog, by string, at time.Time) []CatalogVersion {
	list := c.TemplatesBeside(base, by, at)
	for name, t := range c.Templates {
		if base.Templates[name] == t && before.Templates[name] != t {
			text := CatalogText(t)
			list = append(list, CatalogVersion{Kind: KindTemplate, Name: name, Hash: Digest(text), Text: text, At: at, By: by})
		}
	}
	return list
}

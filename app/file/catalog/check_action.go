package catalog

import (
	"slices"
	"strings"

	"muster/app/file/catalog/form"
	"muster/app/plan"
	"muster/app/template"
)

// actions checks the actions that a template offers for its clusters.
func (c templateChecker) actions(e *form.Entry, t *template.Template) {
	if e.Broken {
		return
	}
	for _, p := range plan.CheckActions(t.Actions) {
		path := append([]any{"actions"}, p.Path...)
		c.report(e, rule(e), path, p.Hint, "%s: %s", e.Spell(path), p.Message)
	}
	for i, a := range t.Actions {
		for j, text := range a.On {
			path := []any{"actions", i, "on", j}
			if message, hint := plan.CheckSelector(text); message != "" {
				c.report(e, rule(e), path, hint, "%s: %s", e.Spell(path), message)
				continue
			}
			key, name, _ := strings.Cut(text, "=")
			if kind, ok := selected[strings.TrimSpace(key)]; ok {
				c.refer(e, kind, strings.TrimSpace(name), path...)
			}
		}
	}
}

// selected are the kinds of entries that selectors name.
var selected = map[string]form.Kind{"service": form.KindService, "hardware": form.KindHardware, "image": form.KindImage}

// actions adds those of a part, over those of the same name.
func (m *merging) actions(all []template.SavedAction) {
	for _, a := range all {
		if at := slices.IndexFunc(m.out.Actions, func(have template.SavedAction) bool { return have.Name == a.Name }); at >= 0 {
			m.out.Actions[at] = a
		} else {
			m.out.Actions = append(m.out.Actions, a)
		}
	}
	if len(all) > 0 {
		m.took("actions", "actions")
	}
}

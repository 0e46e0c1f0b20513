package catalog

import (
	"fmt"
	"slices"
	"strings"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// parameters checks how they are declared.
func (c templateChecker) parameters(e *form.Entry, t *template.Template) {
	for _, p := range template.CheckParameters(t.Parameters) {
		if p.Key == "type" && t.Parameters[p.Index].Type == "" {
			continue // that was reported where it was read
		}
		path := []any{"parameters", p.Index}
		if p.Key != "" {
			path = append(path, p.Key)
		}
		c.report(e, rule(e), path, p.Hint, "%s: %s", e.Spell(path), p.Message)
	}
}

// life checks what a template says of itself.
func (c templateChecker) life(e *form.Entry, t *template.Template) {
	if t.ReplacedBy != "" {
		c.refer(e, form.KindTemplate, t.ReplacedBy, "replaced_by")
		switch {
		case t.ReplacedBy == t.Name:
			c.report(e, rule(e), []any{"replaced_by"}, "", "replaced_by refers to the template itself")
		case t.State != template.StateDeprecated:
			c.report(e, form.SeverityWarning, []any{"replaced_by"}, "add state: deprecated", "replaced_by has no effect unless the template is deprecated")
		}
	}
	for i, part := range t.Immutable {
		path, config := strings.CutPrefix(part, "config.")
		if config && path != "" || known(part) {
			continue
		}
		c.report(e, rule(e), []any{"immutable", i}, form.DidYouMean(part, template.ImmutableParts),
			"%s: %q can't be immutable; use config, a path such as config.ssl, %s", fmt.Sprintf("immutable[%d]", i), part,
			strings.Join(template.ImmutableParts[1:], ", "))
	}
}

func known(part string) bool {
	for _, p := range template.ImmutableParts {
		if p == part {
			return true
		}
	}
	return false
}

// hooks checks a template's operation hooks.
func (c templateChecker) hooks(e *form.Entry, list []template.OperationHook) {
	if e.Broken {
		return
	}
	if len(list) > template.MaxTemplateHooks {
		c.report(e, rule(e), []any{"hooks"}, "", "%s has more than %d entries", e.Spell([]any{"hooks"}), template.MaxTemplateHooks)
		return
	}
	for i, h := range list {
		path := []any{"hooks", i}
		if err := h.Check(); err != nil {
			if err.Field != "" {
				path = append(path, err.Field)
			}
			c.report(e, rule(e), path, err.Hint, "%s: %s", e.Spell(path), err.Message)
			continue
		}
		if slices.ContainsFunc(list[:i], func(o template.OperationHook) bool { return o.Name == h.Name }) {
			path = append(path, "name")
			c.report(e, rule(e), path, "", "%s: two hooks are named %q", e.Spell(path), h.Name)
		}
		for _, s := range h.Services {
			c.refer(e, form.KindService, s, append(path, "services")...)
		}
	}
}

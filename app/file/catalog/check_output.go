package catalog

import (
	"slices"

	"muster/app/file/catalog/form"
	"muster/app/output"
	"muster/app/template"
)

// outputs checks what a template declares of the values of its clusters.
func (c templateChecker) outputs(e *form.Entry, t *template.Template) {
	for _, p := range output.Check(t.Outputs) {
		path := []any{"outputs", p.Index}
		if p.Key != "" {
			path = append(path, p.Key)
		}
		c.report(e, rule(e), path, p.Hint, "%s: %s", e.Spell(path), p.Message)
	}
	if whole := e.Whole; whole != nil && len(t.Outputs) <= output.MaxOutputs && len(whole.Outputs) > output.MaxOutputs {
		c.report(e, rule(e), []any{"outputs"}, "remove some", "%d outputs with the inherited ones; a template can have at most %d",
			len(whole.Outputs), output.MaxOutputs)
	}
	for i, o := range t.Outputs {
		services, _ := output.Uses(o)
		for _, s := range slices.Compact(slices.Sorted(slices.Values(services))) {
			c.refer(e, form.KindService, s, "outputs", i, "value")
		}
	}
}

// outputs takes a layer's outputs; one of a name that is there replaces it.
func (m *merging) outputs(list []template.Output) {
	for _, o := range list {
		same := func(have template.Output) bool { return have.Name == o.Name }
		if at := slices.IndexFunc(m.out.Outputs, same); at >= 0 {
			m.out.Outputs[at] = o
		} else {
			m.out.Outputs = append(m.out.Outputs, o)
		}
		m.took("outputs."+o.Name, "outputs")
	}
}

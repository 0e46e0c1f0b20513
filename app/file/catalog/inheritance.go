package catalog

import (
	"fmt"
	"slices"
	"strings"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// Limits on what a template is made of.
const (
	maxAncestors = 16  // one behind the other
	maxLayers    = 100 // in all, each as often as it comes
)

// heirs makes templates whole: what each extends and includes is merged into it. What cannot be made whole is reported, and is no
// part of the catalog that clusters are made from.
type inheritance struct {
	c      *checker
	layers map[*form.Entry][]form.Layer // of those that were looked at; nil of what cannot be made whole
	path   []*form.Entry                // that is being walked
	broken map[*form.Entry]bool
	depth  map[*form.Entry]int // how many stand one behind the other, itself among them
}

// whole sets entry.whole of every template that can be made whole.
func (c *checker) whole(list []*form.Entry) {
	h := &inheritance{c: c, layers: map[*form.Entry][]form.Layer{}, broken: map[*form.Entry]bool{}, depth: map[*form.Entry]int{}}
	for _, e := range list {
		if _, ok := e.Value.(*template.Template); ok {
			h.of(e)
		}
	}
	for _, e := range list {
		t, ok := e.Value.(*template.Template)
		if !ok || h.broken[e] {
			continue
		}
		e.Layers, e.Depth = h.layers[e], h.depth[e]
		if len(e.Layers) == 1 {
			e.Whole = t
			continue
		}
		before := c.out.Count()
		whole := c.merge(e, e.Layers)
		for _, l := range e.Layers {
			whole.Untrusted = whole.Untrusted || l.Template.Untrusted
		}
		if c.out.Count() == before {
			e.Whole = whole
		}
	}
}

// of returns the layers of a template, what comes first first: those of its parent, of what it includes, and itself. False says
// that it cannot be made whole.
func (h *inheritance) of(e *form.Entry) ([]form.Layer, bool) {
	if l, done := h.layers[e]; done || h.broken[e] {
		return l, !h.broken[e]
	}
	if e.Done {
		h.depth[e] = e.Depth
		return e.Layers, e.Layers != nil
	}
	t := e.Value.(*template.Template)
	h.path = append(h.path, e)
	defer func() { h.path = h.path[:len(h.path)-1] }()
	var all []form.Layer
	good := !e.Broken
	if t.Extends != "" {
		good = h.add(&all, e, t.Extends, false, "extends") && good
	}
	for i, name := range t.Includes {
		good = h.add(&all, e, name, true, "includes", i) && good
	}
	if len(all) >= maxLayers && good {
		h.c.report(e, rule(e), []any{"includes"}, "", "the template combines more than %d templates%s", maxLayers, notOffered(e))
		good = false
	}
	if !good {
		h.broken[e] = true
		return nil, false
	}
	all = append(all, form.Layer{Entry: e, Template: t})
	h.layers[e] = all
	return all, true
}

// add adds the layers of a template that e names.
func (h *inheritance) add(all *[]form.Layer, e *form.Entry, name string, partial bool, path ...any) bool {
	c := h.c
	from := c.entries[form.Key{Kind: form.KindTemplate, Name: name}]
	if from == nil {
		if name != "" && !c.unread[name] {
			c.report(e, rule(e), path, form.DidYouMean(name, c.names(form.KindTemplate)), "%s refers to %s, which isn't in the catalog%s", e.Spell(path),
				form.Key{Kind: form.KindTemplate, Name: name}, notOffered(e))
		}
		return false
	}
	t, ok := from.Value.(*template.Template)
	if !ok {
		return false
	}
	if at := slices.Index(h.path, from); at >= 0 {
		var chain []string
		for _, on := range append(slices.Clone(h.path[at:]), from) {
			chain = append(chain, fmt.Sprintf("%s (%s)", on.Name, on.Origin()))
		}
		c.report(e, rule(e), path, "", "%s is circular: %s%s", e.Spell(path), strings.Join(chain, ", "), notOffered(e))
		for _, on := range h.path[at:] {
			h.broken[on] = true
		}
		return false
	}
	if partial && !t.Partial {
		c.report(e, rule(e), path, "use extends, or mark it with partial: true", "%s refers to %s, which isn't a partial template%s", e.Spell(path),
			form.Key{Kind: form.KindTemplate, Name: name}, notOffered(e))
		return false
	}
	layers, good := h.of(from)
	if !good || h.broken[e] {
		return false
	}
	*all = append(*all, layers...)
	if h.depth[e] = max(h.depth[e], h.depth[from]+1); h.depth[e] >= maxAncestors {
		c.report(e, rule(e), path, "", "%s: templates are nested more than %d levels deep%s", e.Spell(path), maxAncestors, notOffered(e))
		return false
	}
	return true
}

// notOffered says what follows where a broken rule is only a warning.
func notOffered(e *form.Entry) string {
	if e.Lenient {
		return ", so the template isn't offered"
	}
	return ""
}

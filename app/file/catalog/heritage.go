package catalog

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
)

// Limits on what a template is made of.
const (
	maxAncestors = 16  // one behind the other
	maxLayers    = 100 // in all, each as often as it comes
)

// layer is one template that another is made of, itself among them.
type layer struct {
	entry    *entry
	template *app.Template
}

// heirs makes templates whole: what each extends and includes is merged into it. What cannot be made whole is reported, and is no
// part of the catalog that clusters are made from.
type heirs struct {
	c      *checker
	layers map[*entry][]layer // of those that were looked at; nil of what cannot be made whole
	path   []*entry           // that is being walked
	broken map[*entry]bool
	depth  map[*entry]int // how many stand one behind the other, itself among them
}

// whole sets entry.whole of every template that can be made whole.
func (c *checker) whole(list []*entry) {
	h := &heirs{c: c, layers: map[*entry][]layer{}, broken: map[*entry]bool{}, depth: map[*entry]int{}}
	for _, e := range list {
		if _, ok := e.value.(*app.Template); ok {
			h.of(e)
		}
	}
	for _, e := range list {
		t, ok := e.value.(*app.Template)
		if !ok || h.broken[e] {
			continue
		}
		e.layers, e.depth = h.layers[e], h.depth[e]
		if len(e.layers) == 1 {
			e.whole = t
			continue
		}
		before := c.out.count()
		whole := c.merge(e, e.layers)
		for _, l := range e.layers {
			whole.Untrusted = whole.Untrusted || l.template.Untrusted
		}
		if c.out.count() == before {
			e.whole = whole
		}
	}
}

// of gives the layers of a template, what comes first first: those of its parent, of what it includes, and itself. False says
// that it cannot be made whole.
func (h *heirs) of(e *entry) ([]layer, bool) {
	if l, done := h.layers[e]; done || h.broken[e] {
		return l, !h.broken[e]
	}
	if e.done {
		h.depth[e] = e.depth
		return e.layers, e.layers != nil
	}
	t := e.value.(*app.Template)
	h.path = append(h.path, e)
	defer func() { h.path = h.path[:len(h.path)-1] }()
	var all []layer
	good := !e.broken
	if t.Extends != "" {
		good = h.add(&all, e, t.Extends, false, "extends") && good
	}
	for i, name := range t.Includes {
		good = h.add(&all, e, name, true, "includes", i) && good
	}
	if len(all) >= maxLayers && good {
		h.c.report(e, rule(e), []any{"includes"}, "", "it is made of more than %d templates%s", maxLayers, notOffered(e))
		good = false
	}
	if !good {
		h.broken[e] = true
		return nil, false
	}
	all = append(all, layer{e, t})
	h.layers[e] = all
	return all, true
}

// add adds the layers of a template that e names.
func (h *heirs) add(all *[]layer, e *entry, name string, partial bool, path ...any) bool {
	c := h.c
	from := c.entries[key{kindTemplate, name}]
	if from == nil {
		if name != "" && !c.unread[name] {
			c.report(e, rule(e), path, didYouMean(name, c.names(kindTemplate)), "%s names %s, which is not in the catalog%s", e.spell(path), key{kindTemplate, name}, notOffered(e))
		}
		return false
	}
	t, ok := from.value.(*app.Template)
	if !ok {
		return false
	}
	if at := slices.Index(h.path, from); at >= 0 {
		var chain []string
		for _, on := range append(slices.Clone(h.path[at:]), from) {
			chain = append(chain, fmt.Sprintf("%s (%s)", on.name, on.origin()))
		}
		c.report(e, rule(e), path, "", "%s goes round in a circle: %s%s", e.spell(path), strings.Join(chain, ", "), notOffered(e))
		for _, on := range h.path[at:] {
			h.broken[on] = true
		}
		return false
	}
	if partial && !t.Partial {
		c.report(e, rule(e), path, "extend it, or mark it with partial: true", "%s names %s, which is no partial template%s", e.spell(path), key{kindTemplate, name}, notOffered(e))
		return false
	}
	layers, good := h.of(from)
	if !good || h.broken[e] {
		return false
	}
	*all = append(*all, layers...)
	if h.depth[e] = max(h.depth[e], h.depth[from]+1); h.depth[e] >= maxAncestors {
		c.report(e, rule(e), path, "", "%s: more than %d templates stand one behind the other%s", e.spell(path), maxAncestors, notOffered(e))
		return false
	}
	return true
}

// notOffered says what follows where a broken rule is only a warning.
func notOffered(e *entry) string {
	if e.lenient {
		return ", so it is not offered"
	}
	return ""
}

func (e *entry) origin() app.Origin { return app.Origin{File: e.file, Line: e.at("name").Line} }

package form

import (
	"fmt"
	"maps"
	"slices"

	"muster/app/template"
)

// lines notes the lines that people are pointed to where there is no layout.
type lines struct {
	e  *Entry
	at map[string]int
}

// all returns them; nil where there are none.
func (l lines) all() map[string]int {
	if len(l.at) == 0 {
		return nil
	}
	return l.at
}

// add notes the line of a path under a name, if it is written.
func (l lines) add(name string, path ...any) {
	if place, _, found := l.e.Find(path); found {
		l.at[name] = place.Line
	}
}

func (l lines) list(name string, n int, path ...any) {
	for i := range n {
		l.add(fmt.Sprintf("%s[%d]", name, i), append(slices.Clone(path), i)...)
	}
}

// linesOf returns the lines of a template's constraints, defaults and compatibility, by the paths that app.About tells of.
func linesOf(e *Entry, t *template.Template) map[string]int {
	l := lines{e, map[string]int{}}
	c := t.Constraints
	for s := range maps.Keys(c.Services) {
		l.add("constraints.services."+s, "constraints", "services", s)
		for _, key := range []string{"min", "max", "hardware", "images"} {
			l.add("constraints.services."+s+"."+key, "constraints", "services", s, key)
		}
	}
	for key, n := range map[string]int{"must_coexist": len(c.MustCoexist), "cant_coexist": len(c.CantCoexist),
		"cant_coexist_pairs": len(c.CantCoexistPairs), "ratios": len(c.Ratios)} {
		l.list("constraints."+key, n, "constraints", key)
	}
	for _, key := range []string{"size", "zones", "mixed_hardware"} {
		l.add("constraints."+key, "constraints", key)
	}
	for h := range maps.Keys(c.Hardware) {
		l.add("constraints.hardware."+h, "constraints", "hardware", h)
	}
	for h := range maps.Keys(t.FallbackHardware) {
		l.add("fallback_hardware."+h, "fallback_hardware", h)
	}
	if r := c.Hosts; r != nil {
		for key, n := range map[string]int{"alone": len(r.Alone), "apart": len(r.Apart), "separate": len(r.Separate)} {
			l.list("constraints.hosts."+key, n, "constraints", "hosts", key)
		}
		l.add("constraints.hosts.max_nodes", "constraints", "hosts", "max_nodes")
	}
	for i, s := range t.Defaults.Services {
		l.add("defaults.services."+s, "defaults", "services", i)
	}
	for _, key := range []string{"hardware", "image", "provider", "dns_suffix", "prefer"} {
		l.add("defaults."+key, "defaults", key)
	}
	for _, key := range []string{"services", "hardware", "images"} {
		l.add("compatibility."+key, "compatibility", key)
	}
	for key := range t.Defaults.Config {
		l.add("defaults.config."+key, "defaults", "config", key)
	}
	for i, p := range t.Parameters {
		l.add("parameters."+p.Name, "parameters", i)
	}
	for i, o := range t.Outputs {
		l.add("outputs."+o.Name, "outputs", i)
	}
	l.list("links", len(t.Links), "links")
	for _, key := range []string{"lease", "health", "batches", "immutable"} {
		l.add(key, key)
	}
	return l.all()
}

// linesOfService returns the line of what a service needs.
func linesOfService(e *Entry) map[string]int {
	l := lines{e, map[string]int{}}
	l.add("needs", "needs")
	return l.all()
}

package explain

import (
	"fmt"
	"slices"

	"muster/app/template"
	"muster/solver/internal/request"
)

// with returns a list with one more; an empty list, which allows everything, stays as it is.
func with(list []string, name string) []string {
	if len(list) == 0 || slices.Contains(list, name) {
		return list
	}
	return append(slices.Clone(list), name)
}

// otherTypes asks for another type than the one that the request or the template wants, or else for none.
func otherTypes(of request.TypeSort, name string, offered []string) []remedy {
	var out []remedy
	for _, other := range request.Others([]string{name}, offered) {
		out = append(out, remedy{rank: rankOtherType, steps: 1, text: says("%s %s instead of %s", of.Name, other, name),
			apply: func(w *world, _ int) { *of.Asked(&w.r) = other }})
	}
	// A requester who chose a type can as well choose none; else the template has to.
	return append(out, remedy{rank: rankOtherType, steps: 1, text: says("any %s instead of %s", of.Name, name),
		apply: func(w *world, _ int) {
			*of.Asked(&w.r) = ""
			if *of.Usual(w.c.Templates[w.r.Template]) != "" {
				*of.Usual(w.template()) = ""
			}
		}})
}

// allowType lets a service be on one more type, or else on any.
func allowType(of request.TypeSort, s string, list, offered []string) []remedy {
	var out []remedy
	for _, other := range request.Others(list, offered) {
		out = append(out, remedy{rank: rankRule, steps: 1, text: says("allow %s on %s %s", s, of.Name, other),
			apply: func(w *world, _ int) {
				w.service(s, func(c *template.ServiceConstraint) { *of.Accepted(c) = with(*of.Accepted(c), other) })
			}})
	}
	return append(out, remedy{rank: rankLast, steps: 1, text: says("allow %s on any %s", s, of.Name),
		apply: func(w *world, _ int) {
			w.service(s, func(c *template.ServiceConstraint) { *of.Accepted(c) = nil })
		}})
}

// compatibleType lets the template allow one more type, or else any.
func compatibleType(of request.TypeSort, list, offered []string) []remedy {
	var out []remedy
	for _, other := range request.Others(list, offered) {
		out = append(out, remedy{rank: rankRule, steps: 1, text: says("allow %s %s in the template", of.Name, other),
			apply: func(w *world, _ int) {
				t := w.template()
				*of.Compatible(t) = with(*of.Compatible(t), other)
			}})
	}
	return append(out, remedy{rank: rankLast, steps: 1, text: says("allow any %s in the template", of.Name),
		apply: func(w *world, _ int) { *of.Compatible(w.template()) = nil }})
}

// biggerHardware is a hardware type that does not exist yet and offers so much, for all nodes.
func biggerHardware(provider string, offers template.Requirements) remedy {
	const name = "new"
	return remedy{rank: rankProvider, steps: 1, text: says("hardware with at least %s", inWhat(offers)),
		apply: func(w *world, _ int) {
			t := w.template()
			hardware := map[string]*template.HardwareType{name: {About: template.About{Name: name}, Providers: map[string]template.Flavor{
				provider: {Flavor: name, CPU: offers.CPU, MemoryGB: offers.MemoryGB, DiskGB: offers.DiskGB, GPUs: offers.GPUs}}}}
			for s, c := range t.Constraints.Services {
				c.Hardware = with(c.Hardware, name)
				t.Constraints.Services[s] = c
			}
			t.Compatibility.Hardware = with(t.Compatibility.Hardware, name)
			t.Defaults.Hardware, w.r.Hardware = "", ""
			w.c.Hardware = hardware
		}}
}

func otherProvider(name, instead string) remedy {
	return remedy{rank: rankProvider, steps: 1, text: func(int) string { return fmt.Sprintf("provider %s instead of %s", name, instead) },
		apply: func(w *world, _ int) { w.r.Provider = name }}
}

package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxFallbacks is how many other hardware types a template may name for one.
const MaxFallbacks = 10

// Smaller tells in which way a machine is smaller than another, in words; "" where it is not, as far as both say how large they are.
func (f Flavor) Smaller(than Flavor) string {
	for _, m := range []struct {
		has, wants float64
		unit       string
	}{{f.CPU, than.CPU, "cores"}, {f.MemoryGB, than.MemoryGB, "GiB of memory"}, {f.DiskGB, than.DiskGB, "GiB of disk"}} {
		if m.unit == "cores" && m.has == 1 {
			m.unit = "core"
		}
		if m.has > 0 && m.wants > 0 && m.has < m.wants {
			return fmt.Sprintf("%g %s instead of %g", m.has, m.unit, m.wants)
		}
	}
	return ""
}

// AskedHardware is the hardware that the layout chose for a node. Its machine may be of other hardware; see Template.FallbackHardware.
func (n Node) AskedHardware() string { return FirstOf(n.InsteadOf, n.Hardware) }

// Placed is hardware with the services of a node that is to be of it.
type Placed struct {
	Hardware string   `json:"-"`
	Services []string `json:"-"`
}

// fallbacks gives, by the hardware of some nodes, what else their machines may be made of at a provider, in the template's order. Left
// out is what the provider does not have or has smaller, what services of these nodes are not to be on, and what the template allows
// only a number of nodes of, since how many of them there will be is not known beforehand.
func (t *Template) fallbacks(c *Catalog, provider string, nodes []Placed) map[string][]string {
	out := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(t.FallbackHardware)) {
		asked := c.Hardware[name]
		if asked == nil || !slices.ContainsFunc(nodes, func(n Placed) bool { return n.Hardware == name }) {
			continue
		}
		for _, other := range t.FallbackHardware[name] {
			h := c.Hardware[other]
			if h == nil || other == name {
				continue
			}
			flavor, has := h.Providers[provider]
			_, limited := t.Constraints.Hardware[other]
			if has && flavor.Flavor != "" && !limited && flavor.Smaller(asked.Providers[provider]) == "" && t.accepts(name, other, nodes) {
				out[name] = append(out[name], other)
			}
		}
	}
	return out
}

// accepts tells whether all services of nodes of some hardware may be on other hardware.
func (t *Template) accepts(hardware, other string, nodes []Placed) bool {
	for _, n := range nodes {
		for _, s := range n.Services {
			if on := t.Constraints.Services[s].Hardware; n.Hardware == hardware && len(on) > 0 && !slices.Contains(on, other) {
				return false
			}
		}
	}
	return true
}

// TakeFallbacks freezes what the machines of nodes may be made of instead, in place of what was frozen for the same hardware.
func (d *Definition) TakeFallbacks(c *Catalog, t *Template, provider string, nodes []Placed) {
	fallbacks := t.fallbacks(c, provider, nodes)
	if len(fallbacks)+len(d.FallbackHardware) == 0 {
		return
	}
	d.Hardware, d.FallbackHardware = maps.Clone(d.Hardware), maps.Clone(d.FallbackHardware)
	if d.FallbackHardware == nil {
		d.FallbackHardware = map[string][]string{}
	}
	for _, n := range nodes {
		delete(d.FallbackHardware, n.Hardware)
	}
	for name, others := range fallbacks {
		d.FallbackHardware[name] = others
		for _, other := range others {
			d.Hardware[other] = c.Hardware[other].Providers[provider]
		}
	}
}

// NextOf gives the hardware to ask for after a node's own, of which there is none to be had, in order. It goes round: the last is what the
// layout chose, unless the node is of that. Nil where there is no other.
func (d Definition) NextOf(n Node) []string {
	asked := n.AskedHardware()
	others := d.FallbackHardware[asked]
	if len(others) == 0 {
		return nil
	}
	next := slices.Clone(others[slices.Index(others, n.Hardware)+1:])
	if n.Hardware != asked {
		next = append(next, asked)
	}
	return next
}

// Highest gives the flavor of some hardware with the price and the cores of the dearest and the largest that a machine may be instead.
func (d Definition) Highest(hardware string, fallbacks map[string][]string) Flavor {
	f := d.Hardware[hardware]
	for _, other := range fallbacks[hardware] {
		o := d.Hardware[other]
		f.CostPerHour, f.CPU = max(f.CostPerHour, o.CostPerHour), max(f.CPU, o.CPU)
	}
	return f
}

// GrowsNodes tells of operations that make machines for nodes which have had none: only these may be of other hardware than the layout
// chose. A node that is made anew has its price already, and its like.
func (k OperationKind) GrowsNodes() bool {
	switch k {
	case OperationCreate, OperationResize, OperationAddServices, OperationGoOn:
		return true
	}
	return false
}

// FallbacksOf gives those of the fallbacks that a plan may come to use.
func (r PlanRequest) FallbacksOf() map[string][]string {
	if !r.Kind.GrowsNodes() {
		return nil
	}
	var out map[string][]string
	for _, n := range r.Nodes {
		others := r.Fallbacks[n.Hardware]
		if len(others) == 0 || r.Kind != OperationCreate && n.Change != NodeNew {
			continue
		}
		if out == nil {
			out = map[string][]string{}
		}
		out[n.Hardware] = others
	}
	return out
}

// FallbackWords says for people what machines may be made of instead; "" where they may not.
func (p Plan) FallbackWords() string { return FallbackWords(p.Fallbacks, 0, 0) }

// Price says what a layout costs per hour, as Cost does, or from what to what, where its machines may be of other hardware.
func (l Layout) Price() string {
	if l.MostPerHour > l.CostPerHour {
		return Cost(l.CostPerHour) + " to " + Cost(l.MostPerHour)
	}
	return Cost(l.CostPerHour)
}

// FallbackWords is FallbackWords with what the cluster costs per hour then at most.
func FallbackWords(fallbacks map[string][]string, cost, most float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fallbacks)) {
		parts = append(parts, fmt.Sprintf("no %s is to be had, a node is %s", name, strings.Join(fallbacks[name], ", or else ")))
	}
	if len(parts) == 0 {
		return ""
	}
	words := "Where " + strings.Join(parts, "; where ")
	if most > cost {
		words += fmt.Sprintf("; the cluster then costs up to %s an hour", Cost(most))
	}
	return words + "."
}

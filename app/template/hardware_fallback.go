package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app/humanize"
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
	if f.GPUs < than.GPUs {
		return fmt.Sprintf("%s instead of %d", humanize.Count(f.GPUs, "GPU"), than.GPUs)
	}
	return ""
}

// Placed is hardware with the services of a node that is to be of it.
type Placed struct {
	Hardware string   `json:"-"`
	Services []string `json:"-"`
}

// Fallbacks returns, by the hardware of some nodes, what else their machines may be made of at a provider, in the template's order. Left
// out is what the provider does not have or has smaller, what services of these nodes are not to be on, and what the template allows
// only a number of nodes of, since how many of them there will be is not known beforehand.
func (t *Template) Fallbacks(c *Catalog, provider string, nodes []Placed) map[string][]string {
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

// accepts reports whether all services of nodes of some hardware may be on other hardware.
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

// FallbackWords is FallbackWords with what the cluster costs per hour then at most.
func FallbackWords(fallbacks map[string][]string, cost, most float64, currency string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fallbacks)) {
		parts = append(parts, fmt.Sprintf("%s is unavailable, nodes use %s", name, strings.Join(fallbacks[name], ", then ")))
	}
	if len(parts) == 0 {
		return ""
	}
	words := "If " + strings.Join(parts, "; if ")
	if most > cost {
		words += fmt.Sprintf(". The cluster then costs up to %s", humanize.PerHour(most, currency))
	}
	return words + "."
}

package solver

import (
	"encoding/json"
	"slices"

	"muster/app/layout"
	"muster/app/template"
)

// hosted tries all hosts for all nodes; at is the kind, done how many of its nodes have one.
func (e *enumerate) hosted(at, done int, on map[string][]plainKind) bool {
	for at < len(e.counts) && done == e.counts[at] {
		at, done = at+1, 0
	}
	if at == len(e.counts) {
		return e.t.Constraints.Zones == nil || e.zonedByHosts(on)
	}
	for _, h := range e.r.Pool.Hosts {
		on[h.Name] = append(on[h.Name], e.kinds[at])
		if e.mayStand(h, on[h.Name]) && e.hosted(at, done+1, on) {
			return true
		}
		on[h.Name] = on[h.Name][:len(on[h.Name])-1]
	}
	return false
}

// mayStand reports whether such nodes may be on a host together.
func (e *enumerate) mayStand(h layout.Host, nodes []plainKind) bool {
	rule := template.HostRule{}
	if r := e.t.Constraints.Hosts; r != nil {
		rule = *r
	}
	if len(nodes) > h.Nodes || rule.MaxNodes > 0 && len(nodes) > rule.MaxNodes {
		return false
	}
	cpu, with := 0.0, map[string]int{}
	for _, n := range nodes {
		flavor := e.c.Hardware[n.hardware].Providers["p"]
		if n.hardware != h.Hardware {
			return false
		}
		if flavor.CPU > 0 {
			cpu += flavor.CPU
		}
		for _, s := range n.names {
			with[s]++
			if flavor.CPU == 0 {
				cpu += e.c.Services[s].Needs.CPU
			}
			for _, other := range h.Has {
				if other.Alone || slices.Contains(rule.Alone, s) || slices.Contains(other.Apart, s) {
					return false
				}
				for _, a := range rule.Apart {
					for _, from := range a.From {
						if a.Service == s && slices.Contains(other.Services, from) {
							return false
						}
					}
				}
			}
		}
	}
	for _, s := range rule.Separate {
		if with[s] > 1 {
			return false
		}
	}
	return h.Free.CPU == nil || cpu <= *h.Free.CPU
}

func (e *enumerate) zonedByHosts(on map[string][]plainKind) bool {
	rule := e.t.Constraints.Zones
	spread := rule.Services
	if len(spread) == 0 {
		spread = []string{""}
	}
	for _, s := range spread {
		in := map[string]int{}
		for _, h := range e.r.Pool.Hosts {
			for _, n := range on[h.Name] {
				if !slices.Contains(e.zones, h.Zone) {
					return false
				}
				if s == "" || slices.Contains(n.names, s) {
					in[h.Zone]++
				}
			}
		}
		low, high := in[e.zones[0]], in[e.zones[0]]
		for _, z := range e.zones {
			low, high = min(low, in[z]), max(high, in[z])
		}
		if high-low > rule.MaxSkew {
			return false
		}
	}
	return true
}

func poolInWords(p *layout.HostPool, c *template.Catalog) string {
	if p == nil {
		return ""
	}
	b, _ := json.Marshal([]any{p, c.Hardware, c.Services, c.Providers})
	return string(b)
}

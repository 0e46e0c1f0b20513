package solvertest

import (
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
)

// hosts looks at what runs on each host of the pool, node by node.
func (k *checker) hosts() {
	if k.r.Pool == nil || k.r.Pool.Provider != k.provider {
		for _, g := range k.l.Groups {
			if g.Host != "" {
				k.say("There is no host %s, since provider %s has no pool.", g.Host, k.provider)
			}
		}
		return
	}
	rule := template.HostRule{}
	if k.t.Constraints.Hosts != nil {
		rule = *k.t.Constraints.Hosts
	}
	on := map[string][]layout.NodeGroup{}
	for _, g := range k.l.Groups {
		on[g.Host] = append(on[g.Host], g)
	}
	known := map[string]bool{}
	for _, h := range k.r.Pool.Hosts {
		if !known[h.Name] {
			known[h.Name] = true
			k.host(h, rule, on[h.Name])
		}
	}
	for _, g := range k.l.Groups {
		if !known[g.Host] {
			k.say("The pool of provider %s has no host %q.", k.provider, g.Host)
		}
	}
}

func (k *checker) host(h layout.Host, rule template.HostRule, groups []layout.NodeGroup) {
	nodes, with := 0, map[string]int{}
	var cpu, memory, disk float64
	for _, g := range groups {
		nodes += g.Count
		if g.Hardware != h.Hardware || g.Zone != h.Zone {
			k.say("A node of hardware %s in zone %q is on host %s, which is of hardware %s in zone %q.", g.Hardware, g.Zone, h.Name, h.Hardware, h.Zone)
		}
		var needs template.Requirements
		for _, s := range g.Services {
			with[s] += g.Count
			k.neighbours(h, rule, s)
			if service := k.c.Services[s]; service != nil {
				needs.CPU += max(0, service.Needs.CPU)
				needs.MemoryGB += max(0, service.Needs.MemoryGB)
				needs.DiskGB += max(0, service.Needs.DiskGB)
			}
		}
		if hardware := k.c.Hardware[g.Hardware]; hardware != nil {
			has := hardware.Providers[k.provider]
			takes := func(stated, need float64) float64 {
				if stated > 0 {
					return stated * float64(g.Count)
				}
				return need * float64(g.Count)
			}
			cpu += takes(has.CPU, needs.CPU)
			memory += takes(has.MemoryGB, needs.MemoryGB)
			disk += takes(has.DiskGB, needs.DiskGB)
		}
	}
	if nodes > 0 && nodes > h.Nodes {
		k.say("Host %s has %s, and can take %d.", h.Name, humanize.Count(nodes, "node"), max(0, h.Nodes))
	}
	if rule.MaxNodes > 0 && nodes > rule.MaxNodes {
		k.say("Host %s has %s of the cluster, and may have %d.", h.Name, humanize.Count(nodes, "node"), rule.MaxNodes)
	}
	for _, s := range rule.Separate {
		if with[s] > 1 {
			k.say("Host %s has %d nodes with %s, which are to be separate.", h.Name, with[s], s)
		}
	}
	for _, d := range []struct {
		takes float64
		free  *float64
		what  string
	}{{cpu, h.Free.CPU, "CPU"}, {memory, h.Free.MemoryGB, "GB of memory"}, {disk, h.Free.DiskGB, "GB of disk"}} {
		if d.free != nil && d.takes > max(0, *d.free)*(1+1e-9)+1e-5 {
			k.say("The nodes on host %s take %g %s, and %g are free.", h.Name, d.takes, d.what, *d.free)
		}
	}
}

// neighbours looks whether a service may be on a host beside the nodes of other clusters.
func (k *checker) neighbours(h layout.Host, rule template.HostRule, s string) {
	for _, n := range h.Has {
		if n.Alone || slices.Contains(rule.Alone, s) {
			k.say("Host %s has %s beside another cluster, which is not to be.", h.Name, s)
		}
		if slices.Contains(n.Apart, s) {
			k.say("Host %s has %s beside another cluster that keeps apart from it.", h.Name, s)
		}
		for _, a := range rule.Apart {
			if beside := common(a.From, n.Services); a.Service == s && len(beside) > 0 {
				k.say("Host %s has %s beside %s of another cluster.", h.Name, s, strings.Join(beside, ", "))
			}
		}
	}
}

func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

package change

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app/humanize"
	"muster/app/layout"
)

// reasons say why a change that was found is the one it is.
type reasons struct{ *model }

// explain says of each node that something happens to why it is this one.
func (m reasons) explain(out *layout.Change, met []*fate) {
	on := map[string]int{} // nodes with each service afterwards
	going, taking := make([]int, len(m.classes)), map[string]int{}
	for i, n := range out.Nodes {
		if n.Deleted {
			going[met[i].class]++
			continue
		}
		for _, s := range n.Services {
			on[s]++
		}
		taking[strings.Join(n.Added, "\x00")] += intIf(!n.New)
	}
	able := map[string]ability{}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		switch {
		case n.New:
			n.Why = m.whyNew(n)
		case n.Deleted:
			n.Why = m.whyGone(met[i].class, going[met[i].class], on)
		case len(without(n.Removed, m.r.Remove)) > 0:
			n.Why = m.whyMoved(met[i].class, n)
		case len(n.Added) > 0:
			key := strings.Join(n.Added, "\x00")
			if able[key].nodes == 0 {
				able[key] = m.whoCan(n.Added)
			}
			n.Why = m.whyAdded(i, n, able[key], taking[key])
		case len(n.Services) == 0:
			n.Why = "left without services; a smaller size would delete it"
		}
	}
}

func (m reasons) whyNew(n *layout.ChangedNode) string {
	if m.r.Size > len(m.standing) {
		return ""
	}
	var asked []string
	for _, s := range n.Services {
		if m.added[s] {
			asked = append(asked, s)
		}
	}
	if len(asked) > 0 {
		return fmt.Sprintf("the existing nodes can't run as many of %s as required", humanize.Some(asked, 8))
	}
	if len(m.standing) < m.t.Constraints.Size.Min {
		return fmt.Sprintf("template %s requires at least %s", m.t.Name, humanize.Count(m.t.Constraints.Size.Min, "node"))
	}
	return "the existing nodes alone can't satisfy the constraints of template " + m.t.Name
}

func (m reasons) whyGone(at, going int, on map[string]int) string {
	c := m.classes[at]
	if c.misfit != "" {
		return "it " + c.misfit
	}
	if why := m.clash(c); why != "" && m.moves {
		return why
	}
	left := c.was
	if c.less > 0 {
		left = slices.DeleteFunc(slices.Clone(c.was), func(s string) bool { return m.removed[s] })
	}
	switch stay := m.staying(left, on); {
	case len(left) == 0:
		return "no services left on it"
	case going == len(c.nodes):
		return "runs " + humanize.Some(left, 8) + ", which " + stay
	case going == 1:
		return fmt.Sprintf("the newest of %s with only %s", humanize.Count(len(c.nodes), "node"), humanize.Some(left, 8))
	default:
		return fmt.Sprintf("one of the %d newest of %s with only %s", going, humanize.Count(len(c.nodes), "node"), humanize.Some(left, 8))
	}
}

// staying says where services that a node takes with it still are.
func (m reasons) staying(services []string, on map[string]int) string {
	least := -1
	for _, s := range services {
		if least < 0 || on[s] < least {
			least = on[s]
		}
	}
	switch {
	case least == 0:
		return "can be left out"
	case len(services) == 1:
		return fmt.Sprintf("still runs on %s", humanize.Count(least, "node"))
	default:
		return fmt.Sprintf("still run on at least %s each", humanize.Count(least, "node"))
	}
}

func (m reasons) whyMoved(at int, n *layout.ChangedNode) string {
	c := m.classes[at]
	if why := m.clash(c); why != "" {
		return why
	}
	moved := without(n.Removed, m.r.Remove)
	if len(n.Added) > 0 {
		return fmt.Sprintf("%s %s room for %s", humanize.Some(moved, 8), verb(moved, "makes", "make"), humanize.Some(n.Added, 8))
	}
	for _, s := range moved {
		if u, ok := m.unitOf[s]; ok && m.units[u].max < len(m.standing) {
			return fmt.Sprintf("%s can be on at most %s", s, humanize.Count(m.units[u].max, "node"))
		}
	}
	return humanize.Some(moved, 8) + " " + verb(moved, "goes", "go") + " moves elsewhere"
}

func verb(list []string, one, more string) string {
	if len(list) == 1 {
		return one
	}
	return more
}

// ability is which standing nodes could take some services.
type ability struct {
	nodes, first, most int // how many, the index of the first, the most services on one of them
}

func (m reasons) whoCan(services []string) ability {
	a := ability{first: -1}
	for _, c := range m.classes {
		s := c.stays.Clone()
		for _, name := range services {
			if u, ok := m.unitOf[name]; ok {
				s.Add(u)
			}
		}
		if c.misfit != "" || !m.allowed(s, c.machine) {
			continue
		}
		a.nodes += len(c.nodes)
		a.most = max(a.most, len(c.was))
		if a.first < 0 || c.nodes[0] < a.first {
			a.first = c.nodes[0]
		}
	}
	return a
}

func (m reasons) whyAdded(at int, n *layout.ChangedNode, can ability, took int) string {
	what := humanize.Some(n.Added, 8)
	if !slices.ContainsFunc(n.Added, func(s string) bool { return !slices.Contains(m.everywhere, s) }) {
		return what + " " + verb(n.Added, "runs", "run") + " on every node"
	}
	others := humanize.Count(can.nodes, "node")
	switch {
	case can.nodes == 1:
		return "the only existing node that can run " + what
	case can.nodes <= took:
		return ""
	case len(n.Removed) > 0:
		return fmt.Sprintf("one of %s that can run %s, and changed anyway", others, what)
	case at == can.first:
		return fmt.Sprintf("the first of %s that can run %s", others, what)
	case len(n.Services)-len(n.Added) == can.most:
		return fmt.Sprintf("one of %s that can run %s, with the most services", others, what)
	default:
		return fmt.Sprintf("one of %s that can run %s", others, what)
	}
}

// clash says why the services that a node of the class keeps cannot share it any more; "" where they can.
func (m *model) clash(c alike) string {
	if m.allowed(c.stays, c.machine) {
		return ""
	}
	needs := m.wide
	for u := c.stays.Next(0); u >= 0; u = c.stays.Next(u + 1) {
		b := m.units[u]
		needs = resourcesPlus(needs, b.needs)
		who := humanize.Some(b.services, 8)
		switch {
		case b.cant && len(b.services) == 1:
			return who + " can't be on any node"
		case b.cant:
			return who + " must coexist and can't coexist"
		case !accepted(b.hardware, c.machine.hardware):
			return who + " " + verb(b.services, "does", "do") + " not support hardware " + c.machine.hardware
		case !accepted(b.images, c.machine.image):
			return who + " " + verb(b.services, "does", "do") + " not support image " + c.machine.image
		}
		if o := m.apart[u].FirstCommon(c.stays); o >= 0 {
			return humanize.Some(slices.Concat(b.services, m.units[o].services), 8) + " can't coexist"
		}
	}
	for _, g := range m.never {
		if g.SubsetOf(c.stays) {
			var who []string
			for u := g.Next(0); u >= 0; u = g.Next(u + 1) {
				who = append(who, m.units[u].services...)
			}
			return humanize.Some(who, 8) + " can't coexist"
		}
	}
	if has := c.machine.has; has.MemoryGB > 0 && needs.MemoryGB > has.MemoryGB {
		return fmt.Sprintf("its services need %g GB of memory, but hardware %s has %g", needs.MemoryGB, c.machine.hardware, has.MemoryGB)
	} else if has.CPU > 0 && needs.CPU > has.CPU {
		return fmt.Sprintf("its services need %g CPU, but hardware %s has %g", needs.CPU, c.machine.hardware, has.CPU)
	}
	if needs.GPUs > c.machine.has.GPUs {
		has := "none"
		if c.machine.has.GPUs > 0 {
			has = strconv.Itoa(c.machine.has.GPUs)
		}
		return fmt.Sprintf("its services need %s, but hardware %s has %s", humanize.Count(needs.GPUs, "GPU"), c.machine.hardware, has)
	}
	return fmt.Sprintf("its services need %g GB of disk, but hardware %s has %g", needs.DiskGB, c.machine.hardware, c.machine.has.DiskGB)
}

package change

import (
	"fmt"
	"slices"
	"sort"

	"muster/app/layout"
	"muster/solver"
)

// carryOut names the nodes that meet each fate. Among equals the highest numbers go and the lowest are changed.
func (m *model) carryOut(fates []fate, counts []int) layout.Change {
	met := make([]*fate, len(m.standing))
	order := make([]int, len(fates))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := &fates[order[i]], &fates[order[j]]
		if a.touched != b.touched {
			return a.touched
		}
		return a.kind < b.kind
	})
	from := make([]int, len(m.classes))
	to := make([]int, len(m.classes))
	for i, c := range m.classes {
		to[i] = len(c.nodes)
	}
	var fresh []*fate
	for _, i := range order {
		f := &fates[i]
		for range counts[i] {
			switch {
			case f.class < 0:
				fresh = append(fresh, f)
			case f.gone:
				to[f.class]--
				met[m.classes[f.class].nodes[to[f.class]]] = f
			default:
				met[m.classes[f.class].nodes[from[f.class]]] = f
				from[f.class]++
			}
		}
	}
	sort.SliceStable(fresh, func(i, j int) bool { return fresh[i].kind < fresh[j].kind })
	out := m.state(met, fresh)
	reasons{m}.explain(&out, met)
	return out
}

// state writes down what happens to every node.
func (m *model) state(met []*fate, fresh []*fate) layout.Change {
	var out layout.Change
	highest := 0
	for i, n := range m.standing {
		highest = max(highest, n.number)
		f := met[i]
		changed := layout.ChangedNode{ExistingNode: n.ExistingNode, Deleted: f.gone}
		changed.Services = slices.Clone(n.Services)
		if !f.gone {
			changed.Services = slices.Clone(f.services)
			changed.Added, changed.Removed = without(f.services, n.Services), without(n.Services, f.services)
			out.CostPerHour += f.on.cost
		}
		out.Touched += intIf(f.touched)
		out.Nodes = append(out.Nodes, changed)
	}
	for i, f := range fresh {
		out.Nodes = append(out.Nodes, layout.ChangedNode{New: true, Added: slices.Clone(f.services), ExistingNode: layout.ExistingNode{
			Name: fmt.Sprintf("n%d", highest+1+i), Hardware: f.on.hardware, Image: f.on.image, Zone: f.zone,
			Services: slices.Clone(f.services)}})
		out.CostPerHour += f.on.cost
		out.Touched++
	}
	out.CostPerHour = solver.RoundCost(out.CostPerHour)
	return out
}

// without returns the names of a that are not in b.
func without(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

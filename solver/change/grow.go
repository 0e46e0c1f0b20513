package change

import (
	"context"
	"maps"

	applayout "muster/app/layout"
	"muster/app/template"
	"muster/solver"
)

// grownBySolver finds the new nodes of a change that leaves those that stand alone. It returns false where the change is
// of another sort.
func (m *model) grownBySolver(ctx context.Context) ([]fate, []int, bool) {
	count, ok := m.untouched()
	if grow := m.low - len(m.standing); ok && grow > 0 && m.low == m.high {
		fresh, counts, ok := m.newBySolver(ctx, count, grow)
		if !ok {
			return nil, nil, false
		}
		for at, c := range m.classes {
			fresh, counts = append(fresh, m.stay(at, c.stays)), append(counts, len(c.nodes))
		}
		m.rank(fresh)
		return fresh, counts, true
	}
	return nil, nil, false
}

// polished chooses the new nodes of an answer again, among all that they can be.
func (m *model) polished(ctx context.Context, fates []fate, counts []int) ([]fate, []int) {
	if m.mayGo() && !m.moves {
		return fates, counts
	}
	grow, on := 0, make([]int, len(m.units))
	var kept []fate
	var keptCounts []int
	for i, f := range fates {
		if f.class < 0 {
			grow += counts[i]
			continue
		}
		kept, keptCounts = append(kept, f), append(keptCounts, counts[i])
		for u := range m.units {
			on[u] += counts[i] * intIf(f.has(u))
		}
	}
	if grow == 0 {
		return fates, counts
	}
	fresh, freshCounts, ok := m.newBySolver(ctx, on, grow)
	if !ok {
		return fates, counts
	}
	kept, keptCounts = append(kept, fresh...), append(keptCounts, freshCounts...)
	m.rank(kept)
	return kept, keptCounts
}

// newBySolver finds the preferred new nodes beside standing ones that have each unit so often, with the solver that
// makes whole layouts: it is exact however many kinds of node there can be. Existing services are taken off the minima and
// maxima. It returns false where constraints would have to count old and new nodes together.
func (m *model) newBySolver(ctx context.Context, count []int, grow int) ([]fate, []int, bool) {
	limits := m.t.Constraints
	if limits.Zones != nil || limits.MixedHardware || len(limits.Hardware) > 0 || m.r.Prefer == template.PreferCheapest {
		return nil, nil, false
	}
	derived := template.Constraints{MustCoexist: limits.MustCoexist, CantCoexist: limits.CantCoexist,
		CantCoexistPairs: limits.CantCoexistPairs, Size: template.SizeRange{Min: 1, Max: template.Unlimited},
		Services: map[string]template.ServiceConstraint{}}
	for _, ratio := range limits.Ratios {
		a, asked := m.unitOf[ratio.Service]
		b, of := m.unitOf[ratio.Of]
		if asked && of && count[a]*max(1, ratio.Per) < count[b]+grow {
			return nil, nil, false // it depends on what the new nodes have
		}
	}
	for u, b := range m.units {
		for _, s := range b.services {
			sc := limits.Services[s]
			sc.Min, sc.MinSet, sc.Max = max(0, b.min-count[u]), true, b.max
			if b.max < template.Unlimited {
				sc.Max = b.max - count[u]
			}
			if sc.Max < 0 {
				return nil, nil, false
			}
			derived.Services[s] = sc
		}
	}
	layout, err := solver.New().Solve(ctx, m.catalogWith(derived), applayout.Request{Template: m.r.Template, Size: grow,
		Provider: m.provider, Services: m.services, Prefer: m.r.Prefer})
	if err != nil {
		return nil, nil, false
	}
	var fates []fate
	var counts []int
	for _, g := range layout.Groups {
		on, _ := m.machineOf(g.Hardware, g.Image)
		fates = append(fates, fate{class: -1, on: on, services: g.Services, touched: true})
		counts = append(counts, g.Count)
	}
	return fates, counts, true
}

// untouched returns on how many nodes each unit is, or false where some node cannot stay just as it is.
func (m *model) untouched() ([]int, bool) {
	count := make([]int, len(m.units))
	for _, c := range m.classes {
		if c.misfit != "" || c.less > 0 || c.lacks > 0 || !m.allowed(c.stays, c.machine) {
			return nil, false
		}
		for u := c.stays.Next(0); u >= 0; u = c.stays.Next(u + 1) {
			count[u] += len(c.nodes)
		}
	}
	return count, true
}

// catalogWith is the catalog with other constraints in the template, and no types but those that new nodes may be.
func (m *model) catalogWith(limits template.Constraints) *template.Catalog {
	c := *m.c
	t := &template.Template{About: m.t.About, Constraints: limits}
	for _, on := range m.types {
		t.Compatibility.Hardware = append(t.Compatibility.Hardware, on.hardware)
		t.Compatibility.Images = append(t.Compatibility.Images, on.image)
	}
	c.Templates = maps.Clone(m.c.Templates)
	c.Templates[m.r.Template] = t
	return &c
}

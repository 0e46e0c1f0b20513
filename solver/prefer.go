package solver

import (
	"cmp"
	"math"
	"slices"

	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/load"
)

// answer is a layout found, and what is known about it.
type answer struct {
	groups []layout.NodeGroup
	gap    float64
	late   bool // the time was over before the packed one of equals was found
}

// mixed reports whether the question needs a mixer.
func (p *problem) counted() bool {
	return len(p.ratios) > 0 || slices.ContainsFunc(p.limits, func(l int) bool { return l < p.size })
}

// mixerFor states the problem for a preference. Types that nothing limits and that are better in every way leave others out,
// save where price decides what is better.
func (p *problem) mixerFor(w *watch) *mixer {
	limited := func(h int) bool { return p.limits[h] < p.size }
	price := make([]int64, len(p.hardware))
	if p.prefer == template.PreferCheapest {
		price = p.prices()
	}
	before := func(a, b palette) int {
		return cmp.Or(cmp.Compare(price[a.hardware], price[b.hardware]), cmp.Compare(a.hardware, b.hardware),
			cmp.Compare(a.image, b.image))
	}
	f := newFamily(p, func(x, o palette) bool {
		return before(o, x) < 0 && (!limited(o.hardware) || o.hardware == x.hardware) &&
			x.blocks.SubsetOf(o.blocks) && x.room.Within(o.room)
	})
	m := newMixer(p, f, w)
	if p.pool != nil {
		m.classed = true
		m.hostRows()
	}
	m.single = !p.mixed && (p.pool != nil || slices.ContainsFunc(p.limits, func(l int) bool { return l < p.size }))
	for i, pal := range f.palettes {
		m.costs[i] = price[pal.hardware]
	}
	return m
}

// prices returns what each hardware candidate costs, in whole numbers without a common divisor.
func (p *problem) prices() []int64 {
	const digits = 1e9
	out := make([]int64, len(p.hardware))
	common := int64(0)
	for i := range out {
		if c := p.price(i); c > 0 {
			out[i] = int64(math.Round(min(c, 1e6) * digits))
			common = divisor(common, out[i])
		}
	}
	for i := range out {
		out[i] /= max(1, common)
	}
	return out
}

func (p *problem) price(hardware int) float64 {
	c := p.catalog.Hardware[p.hardware[hardware]].Providers[p.provider].CostPerHour
	if !(c > 0) || math.IsInf(c, 0) {
		return 0
	}
	return c
}

func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// prefer finds the preferred layout with a mixer; nil where there is none, or none was found in time.
func (m *mixer) prefer(final func([]use) bool) *answer {
	switch m.p.prefer {
	case template.PreferCheapest:
		return m.cheapest(final)
	case template.PreferSpread:
		return m.spread(final)
	}
	return m.packed(final)
}

func (m *mixer) packed(final func([]use) bool) *answer {
	uses := m.layout(m.start(), final)
	if uses == nil {
		return nil
	}
	return &answer{groups: m.groups(uses)}
}

// cheapest first finds the least cost, then the packed layout among those of that cost. Where that one does not pass
// final, the next cost is tried.
func (m *mixer) cheapest(final func([]use) bool) *answer {
	m.addRow(row{pal: m.costs, low: -load.Endless, high: load.Endless})
	cost := len(m.rows) - 1
	for {
		b := m.decide(m.start(), goal{pal: m.costs}, math.Inf(1))
		if m.w.ended {
			if b.best == nil || final != nil && !final(b.best) {
				return nil
			}
			bound := max(b.bound, 0)
			return &answer{groups: m.groups(b.best), gap: max(0, 1-bound/max(1, b.limit)), late: true}
		}
		if b.best == nil {
			return nil
		}
		m.rows[cost].high = int64(b.limit)
		uses := m.layout(m.start(), final)
		if uses == nil && m.w.ended && (final == nil || final(b.best)) {
			return &answer{groups: m.groups(b.best), late: true}
		}
		if uses != nil {
			return &answer{groups: m.groups(uses)}
		}
		m.rows[cost].low, m.rows[cost].high = int64(b.limit)+1, load.Endless
	}
}

// spread goes from the greatest number of services on a node down: as few nodes as possible with so many, then as few as
// possible with one less, and so on.
func (m *mixer) spread(final func([]use) bool) *answer {
	return m.spreadFrom(int64(len(m.p.services)), final)
}

func (m *mixer) spreadFrom(size int64, final func([]use) bool) *answer {
	if size <= max(1, m.p.base[load.BySize]) {
		return m.packed(final)
	}
	rows, most, again := len(m.rows), m.most, -load.Endless
	for {
		b := m.decide(m.start(), goal{over: size}, math.Inf(1))
		if b.best == nil || m.w.ended {
			return nil
		}
		least := int64(b.limit)
		if least == 0 && len(m.rows) == rows {
			m.most, m.warm = size-1, nil
		} else if len(m.rows) == rows {
			m.addRow(row{over: size, low: -load.Endless})
		}
		if len(m.rows) > rows {
			m.rows[rows].low, m.rows[rows].high = again, least // less than the least there cannot be
		}
		if a := m.spreadFrom(size-1, final); a != nil || m.w.ended || final == nil {
			return a
		}
		m.most, m.warm = most, nil
		m.forget(rows)
		if least >= int64(m.p.size) {
			return nil
		}
		again = least + 1
		m.addRow(row{over: size, low: again, high: load.Endless})
	}
}

// forget takes the rows from the given one on away.
func (m *mixer) forget(rows int) {
	m.rows, m.warm = m.rows[:rows], nil
	for _, v := range m.pool {
		v.coef = v.coef[:rows]
	}
}

// groups states varieties in the words of the catalog, in order of preference.
func (m *mixer) groups(uses []use) []layout.NodeGroup {
	var out []layout.NodeGroup
	for _, u := range uses {
		pal := m.f.palettes[u.v.pal]
		n := countOf(uses, u.v) // of all classes of hosts
		if n > 0 {
			out = append(out, m.p.group(kind{u.v.blocks, pal.hardware, pal.image}, int(n)))
		}
	}
	slices.SortFunc(out, preferredGroup)
	return slices.CompactFunc(out, func(a, b layout.NodeGroup) bool { return preferredGroup(a, b) == 0 })
}

func preferredGroup(a, b layout.NodeGroup) int {
	return cmp.Or(cmp.Compare(len(b.Services), len(a.Services)), cmp.Compare(a.Hardware, b.Hardware),
		cmp.Compare(a.Image, b.Image), slices.Compare(a.Services, b.Services))
}

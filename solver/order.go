package solver

import (
	"math"
	"slices"
)

// order finds the packed layout under a mixer's rows: the same steps as in counts.go, with other means. A variety for
// which the rest cannot be made teaches a cut from the duals that prove it: what no variety may be worth less than. Both
// cuts and single varieties that were ruled out stay ruled out when more is taken off.
type order struct {
	m       *mixer
	cuts    []cutWorth
	proofs  [][]cutWorth // of several branches: a variety that breaks a cut of each is no use
	banned  []*variety
	witness []use // a layout of what is left, or nil
	final   func([]use) bool
	sizes   *byRoom
	bySize  bool // whether what a variety is worth depends on its number of services
}

// cutWorth is a cut: varieties are worth at least least.
type cutWorth struct {
	worth
	least float64
	order *byRoom
}

// layout fills what is left in the preferred way that passes final. It gives nil where there is none.
func (m *mixer) layout(st rest, final func([]use) bool) []use {
	o := &order{m: m, final: final}
	for _, r := range m.rows {
		o.bySize = o.bySize || r.over > 0
	}
	size := make([]int64, m.f.blocks)
	for b := range size {
		size[b] = m.f.needs[b][bySize]
	}
	o.sizes = m.f.byRoom(size)
	return o.fill(st, nil)
}

func (o *order) fill(st rest, uses []use) []use {
	if st.n == 0 {
		if st.met() && (o.final == nil || o.final(uses)) {
			return append([]use{}, uses...)
		}
		return nil
	}
	for !o.m.w.ended {
		v := o.next(st)
		if v == nil {
			return nil
		}
		most := o.count(st, v)
		o.banned = append(o.banned, v)
		cuts, banned, proofs, witness := len(o.cuts), len(o.banned), len(o.proofs), o.witness
		for count := most; count > 0 && !o.m.w.ended; count-- {
			o.witness = less(witness, v, count)
			if found := o.fill(o.m.after(st, v, count), append(uses, use{v, count})); found != nil || o.final == nil {
				return found
			}
			o.cuts, o.banned, o.proofs = o.cuts[:cuts], o.banned[:banned], o.proofs[:proofs]
		}
		o.witness = nil
	}
	return nil
}

// less is what a layout still has when count nodes of v are gone; nil where it has not so many.
func less(uses []use, v *variety, count int64) []use {
	out := slices.Clone(uses)
	for i := range out {
		if out[i].v == v && out[i].count >= count {
			out[i].count -= count
			return out
		}
	}
	return nil
}

func countOf(uses []use, v *variety) int64 {
	for _, u := range uses {
		if u.v == v {
			return u.count
		}
	}
	return 0
}

// count is the greatest number of nodes of v: what the linear program allows, if that can be, else by bisection.
func (o *order) count(st rest, v *variety) int64 {
	low := max(1, countOf(o.witness, v))
	l, out := o.m.solve(nil, st, nil, goal{least: v})
	if out != solved {
		o.m.unsure = o.m.unsure || !o.m.w.ended
		return low
	}
	o.m.warm = l.clone()
	high := int64(-whole(l.value(true)))
	if uses, whole := wholeUses(l.shares()); whole && (&bestOf{m: o.m}).exact(st, nil, uses) {
		o.witness = uses
		return max(low, countOf(uses, v))
	}
	for try := high; low < high && !o.m.w.ended; try = (low + high + 1) / 2 {
		if b := o.m.decide(o.m.after(st, v, try), goal{}, math.Inf(1)); b.best != nil {
			o.witness = pooled(append(b.best, use{v, try}))
			low = max(try, countOf(o.witness, v))
		} else {
			high = try - 1
		}
	}
	return low
}

// next gives the most preferred variety of which a layout of what is left can have a node.
func (o *order) next(st rest) *variety {
	size := int64(len(o.m.p.services))
	for !o.m.w.ended {
		pal, blocks, top := o.heaviest(size)
		if blocks == nil {
			return nil
		}
		size = top
		v, _ := o.m.variety(blocks, pal)
		if !o.judge(st, v) {
			continue
		}
		return o.firstByName(st, v)
	}
	return nil
}

// judge tells whether the rest can be made after a node of v. If not it sees to it that v does not come again.
func (o *order) judge(st rest, v *variety) bool {
	if countOf(o.witness, v) > 0 {
		return true
	}
	if o.refuted(v) {
		o.banned = append(o.banned, v)
		return false
	}
	b := o.m.decide(o.m.after(st, v, 1), goal{}, math.Inf(1))
	if b.best != nil {
		o.witness = pooled(append(b.best, use{v, 1}))
		return true
	}
	if o.m.w.ended {
		return false
	}
	for i := range b.proof { // what branches say is about the other nodes, so it does not depend on v
		c := &b.proof[i]
		c.pattern = nil
		c.least += c.of(v) - 1e-6
	}
	if len(b.proof) == 1 && !b.broken {
		c := b.proof[0]
		if x := o.cut(&c, v.pal, v.size); !kept(x, v.blocks) {
			c.order = x.order
			o.cuts = append(o.cuts, c)
			return false
		}
	}
	if len(b.proof) > 1 && !b.broken {
		o.proofs = append(o.proofs, b.proof)
	}
	o.banned = append(o.banned, v)
	return false
}

// refuted tells whether an earlier proof holds for v too.
func (o *order) refuted(v *variety) bool {
	return slices.ContainsFunc(o.proofs, func(proof []cutWorth) bool {
		return !slices.ContainsFunc(proof, func(c cutWorth) bool { return c.of(v) >= c.least })
	})
}

func kept(c cut, blocks set) bool {
	sum := int64(0)
	for b := blocks.next(0); b >= 0; b = blocks.next(b + 1) {
		sum += c.weight[b]
	}
	return sum >= c.least
}

// cut states what is weighed for varieties on a palette; size is their number of services, where that matters.
func (o *order) cut(c *cutWorth, pal int, size int64) cut {
	top := 1e-9
	for _, w := range c.block {
		top = max(top, math.Abs(w))
	}
	scale := float64(1<<36) / top
	out := cut{weight: make([]int64, len(c.block))}
	for b, w := range c.block {
		out.weight[b] = int64(math.Round(w * scale))
	}
	if out.order = c.order; out.order == nil {
		out.order = o.m.f.byRoom(out.weight)
	}
	least := c.least - c.pal[pal]
	for over, w := range c.over {
		if size >= over {
			least -= w
		}
	}
	least = min(max(least*scale, -float64(endless)/4), float64(endless)/4)
	out.least = int64(least) - int64(len(c.block)) - 1
	return out
}

// prepare sets the search up for varieties on a palette with at most size services, and gives the blocks to choose from.
func (o *order) prepare(pal int, size int64) set {
	m := o.m
	clauses, test := m.chosenFor(pal)
	x := &extras{accept: test}
	for i := range o.cuts {
		x.cuts = append(x.cuts, o.cut(&o.cuts[i], pal, size))
	}
	for _, v := range o.banned {
		if v.pal == pal {
			x.banned = append(x.banned, v.blocks)
		}
	}
	m.s.room, m.s.extras = m.roomOf(pal, size), x
	avail := m.f.palettes[pal].blocks
	m.s.clauses = append(m.mustHave(avail), clauses...)
	for b := range m.s.weight {
		m.s.weight[b] = m.f.needs[b][bySize]
	}
	m.s.order = o.sizes
	return avail
}

// heaviest finds the greatest number of services, at most size, and the first palette that reaches it.
func (o *order) heaviest(size int64) (pal int, blocks set, top int64) {
	m := o.m
	none, base := newSet(m.f.words), m.p.base[bySize]
	defer func() { m.s.extras, m.s.clauses = nil, nil }()
	for ; size >= max(1, base) && !m.w.ended; size-- {
		got := base - 1
		for p := range m.f.palettes {
			avail := o.prepare(p, size)
			need := got + 1
			if o.bySize {
				need = size
			}
			if weight, picks := m.s.best(avail, none, need-base, size-base, m.f.blocks); picks != nil {
				pal, blocks, got = p, picks, weight+base
			}
			if m.w.ended {
				return 0, nil, 0
			}
			if got == size {
				break
			}
		}
		if blocks != nil || !o.bySize {
			return pal, blocks, got
		}
	}
	return 0, nil, 0
}

// firstByName gives, among the varieties on the palette of v with as many services that pass the judge, the one whose
// names come first.
func (o *order) firstByName(st rest, v *variety) *variety {
	m := o.m
	defer func() { m.s.extras, m.s.clauses = nil, nil }()
	kept, left := newSet(m.f.words), v.size-m.p.base[bySize]
	open, avail := m.f.palettes[v.pal].blocks.clone(), newSet(m.f.words)
	for b := open.next(0); b >= 0 && left > 0; b = open.next(b + 1) {
		open.del(b)
		if m.f.needs[b][bySize] > left || !m.f.joins(kept, m.f.palsOf[b], b) ||
			!m.f.sum(kept).plus(m.f.needs[b]).within(m.roomOf(v.pal, v.size)) {
			continue
		}
		kept.add(b)
		rest := left - m.f.needs[b][bySize]
		for !v.blocks.has(b) && !m.w.ended {
			o.prepare(v.pal, v.size)
			avail.copyFrom(open)
			avail.remove(m.f.adj[b])
			_, picks := m.s.best(avail, kept, rest, rest, m.f.blocks)
			if picks == nil {
				break
			}
			picks.union(kept)
			if w, _ := m.variety(picks, v.pal); o.judge(st, w) {
				v = w
			}
		}
		if !v.blocks.has(b) {
			kept.del(b)
			continue
		}
		left = rest
		open.remove(m.f.adj[b])
	}
	return v
}

package solver

import (
	"math"
	"slices"

	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
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

// spot is how far the filling has come: what is left to do, under which more rows, and how many nodes are not chosen yet.
// Where a kind is on hosts of several classes, nodes that are chosen are not taken off, since it is open on which of them
// they are; a row counts them.
type spot struct {
	st    rest
	extra []row
	left  int64
}

// with is the spot after at least, or exactly, count more nodes of the kind of v.
func (o *order) with(at spot, v *variety, count int64, exactly bool) spot {
	m := o.m
	if others := m.rivals(v); len(others) > 0 {
		at.st.shut = slices.Concat(at.st.shut, others)
	}
	if !m.classed {
		return spot{m.after(at.st, v, count), at.extra, at.left - count}
	}
	r := row{only: v, low: count, high: load.Endless}
	if exactly {
		r.high = count
	}
	for p := range m.f.palettes { // so that no search has to heed the row
		if m.typesOf[p] == m.typesOf[v.pal] && m.fits(v.blocks, p) {
			m.variety(v.blocks, p)
		}
	}
	at.st.low, at.st.high = append(slices.Clone(at.st.low), r.low), append(slices.Clone(at.st.high), r.high)
	return spot{at.st, append(slices.Clone(at.extra), r), at.left - count}
}

// layout fills what is left in the preferred way that passes final. It returns nil where there is none.
func (m *mixer) layout(st rest, final func([]use) bool) []use {
	o := &order{m: m, final: final}
	for _, r := range m.rows {
		o.bySize = o.bySize || r.over > 0
	}
	size := make([]int64, m.f.blocks)
	for b := range size {
		size[b] = m.f.needs[b][load.BySize]
	}
	o.sizes = m.f.byRoom(size)
	return o.fill(spot{st, nil, st.n}, nil)
}

func (o *order) fill(at spot, uses []use) []use {
	if at.left == 0 {
		if (o.m.classed || at.st.met()) && (o.final == nil || o.final(uses)) {
			return append([]use{}, uses...)
		}
		return nil
	}
	for !o.m.w.ended {
		v := o.next(at)
		if v == nil {
			return nil
		}
		most := o.count(at, v)
		o.banned = append(o.banned, v)
		cuts, banned, proofs, witness := len(o.cuts), len(o.banned), len(o.proofs), o.witness
		for count := most; count > 0 && !o.m.w.ended; count-- {
			if o.witness = witness; !o.m.classed {
				o.witness = less(witness, v, count)
			} else if countOf(witness, v) != count {
				o.witness = nil
			}
			o.banned = append(o.banned, o.m.rivals(v)...)
			if found := o.fill(o.with(at, v, count, true), append(uses, use{v, count})); found != nil || o.final == nil {
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

// countOf is the number of nodes of the kind of v.
func countOf(uses []use, v *variety) (n int64) {
	for _, u := range uses {
		if u.v.kind == v.kind {
			n += u.count
		}
	}
	return n
}

// keep remembers a layout of what is left after at least count nodes of v.
func (o *order) keep(uses []use, v *variety, count int64) {
	if !o.m.classed {
		uses = append(uses, use{v, count})
	}
	o.witness = pooled(uses)
}

// count is the greatest number of nodes of v: what the linear program allows, if that can be, else by bisection.
func (o *order) count(at spot, v *variety) int64 {
	low := max(1, countOf(o.witness, v))
	from := at
	if o.m.classed {
		from = o.with(at, v, low, false)
	} else {
		from.st.shut = slices.Concat(at.st.shut, o.m.rivals(v))
	}
	l, out := o.m.solve(nil, from.st, from.extra, goal{least: v})
	if out != solved {
		o.m.unsure = o.m.unsure || !o.m.w.ended
		return low
	}
	if len(from.extra) == 0 {
		o.m.warm = l.clone()
	}
	high := int64(-whole(l.value(true)))
	if uses, whole := wholeUses(l.shares()); whole && !o.m.clashing(uses) && (&bestOf{m: o.m}).exact(from.st, from.extra, uses) {
		o.witness = uses
		return max(low, countOf(uses, v))
	}
	for try := high; low < high && !o.m.w.ended; try = (low + high + 1) / 2 {
		to := o.with(at, v, try, false)
		if b := o.m.decide(to.st, goal{}, math.Inf(1), to.extra...); b.best != nil {
			o.keep(b.best, v, try)
			low = max(try, countOf(o.witness, v))
		} else {
			high = try - 1
		}
	}
	return low
}

// next returns the most preferred variety of which a layout of what is left can have a node.
func (o *order) next(at spot) *variety {
	size := int64(len(o.m.p.services))
	for !o.m.w.ended {
		pal, blocks, top := o.heaviest(size)
		if blocks == nil {
			return nil
		}
		size = top
		v, _ := o.m.variety(blocks, pal)
		if !o.judge(at, v) {
			continue
		}
		first := o.firstByName(at, v)
		for p := range o.m.f.palettes {
			if p == v.pal || o.m.typesOf[p] != o.m.typesOf[v.pal] {
				continue
			}
			if w := o.on(at, p, v.size); w != nil {
				if w = o.firstByName(at, w); slices.Compare(o.m.names(w), o.m.names(first)) < 0 {
					first = w
				}
			}
		}
		return first
	}
	return nil
}

// on returns a variety on a palette with so many services of which a layout of what is left can have a node; nil where there
// is none.
func (o *order) on(at spot, pal int, size int64) *variety {
	m := o.m
	defer func() { m.s.extras, m.s.clauses = nil, nil }()
	for !m.w.ended {
		need := size - m.p.base[load.BySize]
		_, picks := m.s.best(o.prepare(pal, size), bitset.New(m.f.words), need, need, m.f.blocks)
		if picks == nil {
			return nil
		}
		if v, _ := m.variety(picks, pal); o.judge(at, v) {
			return v
		}
	}
	return nil
}

// judge reports whether the rest can be made after a node of v. If not it sees to it that v does not come again.
func (o *order) judge(at spot, v *variety) bool {
	if countOf(o.witness, v) > 0 {
		return true
	}
	if o.refuted(v) {
		o.banned = append(o.banned, v)
		return false
	}
	to := o.with(at, v, 1, false)
	b := &bestOf{m: o.m, limit: math.Inf(1), bound: math.Inf(-1)}
	if o.m.classed {
		b.own = v
	}
	b.run(to.st, to.extra)
	if b.best != nil {
		o.keep(b.best, v, 1)
		return true
	}
	if o.m.w.ended {
		return false
	}
	if b.broken = b.broken || o.leans(b.proof, v); b.broken {
		o.banned = append(o.banned, v)
		return false
	}
	for i := range b.proof {
		c := &b.proof[i]
		if !o.m.classed { // what branches say is about the other nodes, so it does not depend on v
			c.pattern = nil
			c.least += c.of(v)
		}
		c.least -= 1e-6
	}
	if len(b.proof) == 1 {
		c := b.proof[0]
		if x := o.cut(&c, v.pal, v.size); !kept(x, v.blocks) {
			if len(c.pattern) == 0 {
				c.order = x.order
			}
			o.cuts = append(o.cuts, c)
			return false
		}
	}
	if len(b.proof) > 1 {
		o.proofs = append(o.proofs, b.proof)
	}
	o.banned = append(o.banned, v)
	return false
}

// leans reports whether a proof holds only as long as the rivals of v may not be used.
func (o *order) leans(proof []cutWorth, v *variety) bool {
	return slices.ContainsFunc(o.m.rivals(v), func(k *variety) bool {
		return slices.ContainsFunc(proof, func(c cutWorth) bool { return o.worthMost(&c, k) > small })
	})
}

// refuted reports whether an earlier proof holds for v too.
func (o *order) refuted(v *variety) bool {
	return slices.ContainsFunc(o.proofs, func(proof []cutWorth) bool {
		return !slices.ContainsFunc(proof, func(c cutWorth) bool { return o.worthMost(&c, v) >= c.least })
	})
}

// worthMost is the worth of v, on the hosts where nodes of its kind are worth most.
func (o *order) worthMost(c *cutWorth, v *variety) float64 {
	m, most := o.m, c.of(v)
	for p := range m.f.palettes {
		if m.classed && m.typesOf[p] == m.typesOf[v.pal] && p != v.pal && m.fits(v.blocks, p) {
			other := *v
			other.pal = p
			most = max(most, c.of(&other))
		}
	}
	return most
}

func kept(c cut, blocks bitset.Set) bool {
	sum := int64(0)
	for b := blocks.Next(0); b >= 0; b = blocks.Next(b + 1) {
		sum += c.weight[b]
	}
	return sum >= c.least
}

// cut states what is weighed for varieties on a palette; size is their number of services, where that matters.
func (o *order) cut(c *cutWorth, pal int, size int64) cut {
	worth, least := c.block, c.least-c.pal[pal]
	if len(c.pattern) > 0 {
		worth = slices.Clone(worth)
		for _, p := range c.pattern { // of one block, or of none
			if b := p.blocks.Next(0); p.pal == pal && b >= 0 {
				worth[b] += p.worth
			} else if p.pal == pal {
				least -= p.worth
			}
		}
	}
	top := 1e-9
	for _, w := range worth {
		top = max(top, math.Abs(w))
	}
	scale := float64(1<<36) / top
	out := cut{weight: make([]int64, len(c.block))}
	for b, w := range worth {
		out.weight[b] = int64(math.Round(w * scale))
	}
	if out.order = c.order; out.order == nil {
		out.order = o.m.f.byRoom(out.weight)
	}
	for over, w := range c.over {
		if size >= over {
			least -= w
		}
	}
	least = min(max(least*scale, -float64(load.Endless)/4), float64(load.Endless)/4)
	out.least = int64(least) - int64(len(c.block)) - 1
	return out
}

// prepare sets the search up for varieties on a palette with at most size services, and returns the blocks to choose from.
func (o *order) prepare(pal int, size int64) bitset.Set {
	m := o.m
	x := &extras{}
	for i := range o.cuts {
		x.cuts = append(x.cuts, o.cut(&o.cuts[i], pal, size))
	}
	for _, v := range o.banned {
		if m.typesOf[v.pal] == m.typesOf[pal] {
			x.banned = append(x.banned, v.blocks)
		}
	}
	m.s.room, m.s.extras = m.roomOf(pal, size), x
	avail := m.f.palettes[pal].blocks
	m.s.clauses = m.mustHave(avail)
	for b := range m.s.weight {
		m.s.weight[b] = m.f.needs[b][load.BySize]
	}
	m.s.order = o.sizes
	return avail
}

// heaviest finds the greatest number of services, at most size, and the first palette that reaches it.
func (o *order) heaviest(size int64) (pal int, blocks bitset.Set, top int64) {
	m := o.m
	none, base := bitset.New(m.f.words), m.p.base[load.BySize]
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

// firstByName returns, among the varieties on the palette of v with as many services that pass the judge, the one whose
// names come first.
func (o *order) firstByName(at spot, v *variety) *variety {
	m := o.m
	defer func() { m.s.extras, m.s.clauses = nil, nil }()
	kept, left := bitset.New(m.f.words), v.size-m.p.base[load.BySize]
	open, avail := m.f.palettes[v.pal].blocks.Clone(), bitset.New(m.f.words)
	for b := open.Next(0); b >= 0 && left > 0; b = open.Next(b + 1) {
		open.Del(b)
		if m.f.needs[b][load.BySize] > left || !m.f.joins(kept, m.f.palsOf[b], b) ||
			!m.f.sum(kept).Plus(m.f.needs[b]).Within(m.roomOf(v.pal, v.size)) {
			continue
		}
		kept.Add(b)
		rest := left - m.f.needs[b][load.BySize]
		for !v.blocks.Has(b) && !m.w.ended {
			o.prepare(v.pal, v.size)
			avail.CopyFrom(open)
			avail.Remove(m.f.adj[b])
			_, picks := m.s.best(avail, kept, rest, rest, m.f.blocks)
			if picks == nil {
				break
			}
			picks.Union(kept)
			if w, _ := m.variety(picks, v.pal); o.judge(at, w) {
				v = w
			}
		}
		if !v.blocks.Has(b) {
			kept.Del(b)
			continue
		}
		left = rest
		open.Remove(m.f.adj[b])
	}
	return v
}

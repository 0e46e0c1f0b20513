package solver

import (
	"math"
	"slices"
)

// branch and price: a linear program bounds what can be had; where its solution has fractions of nodes, the number of
// nodes of some pattern is a fraction too, and is rounded up in one branch and down in the other. Patterns are tried
// from the plainest (a palette) to the most special (one variety), of which some always has a fraction if there is any.
// Before that, a dive takes whole nodes off again and again, which mostly finds a solution at once.

// bestOf is the search for the best whole solution.
type bestOf struct {
	m      *mixer
	goal   goal
	limit  float64 // solutions must be worth less
	best   []use
	bound  float64 // what no solution can be less than, as far as known; of the first program
	rooted bool
	cut    *worth // proof that there is none, where the first program gave it
	least  float64
	done   bool
}

// decide finds the best solution whose value is less than limit; nil where there is none, or where the watch ended
// before one was found.
func (m *mixer) decide(st rest, g goal, limit float64) *bestOf {
	b := &bestOf{m: m, goal: g, limit: limit, bound: math.Inf(-1)}
	b.node(st, nil, 0)
	return b
}

// worthOf is the value of a solution.
func (b *bestOf) worthOf(uses []use) float64 {
	sum := 0.0
	for _, u := range uses {
		sum += b.goal.of(u.v) * float64(u.count)
	}
	return sum
}

func (b *bestOf) node(st rest, extra []row, depth int) {
	if b.done || b.m.w.stop() {
		return
	}
	if st.n == 0 {
		if st.met() {
			b.take(nil)
		}
		return
	}
	l := b.m.newSimplex(st, extra, b.goal)
	out := l.run()
	if out == empty && !b.rooted {
		t := l.worth(false)
		b.cut, b.least = &t, dot(l.y, l.rhs)
	}
	if out != solved {
		b.m.unsure = b.m.unsure || out == noAnswer
		return
	}
	value := l.value(true)
	if !b.rooted {
		b.rooted, b.bound = true, whole(value)
	}
	if whole(value) >= b.limit {
		return
	}
	shares := l.shares()
	if uses, whole := wholeUses(shares); whole && b.exact(st, extra, uses) {
		b.take(uses)
		return
	}
	if depth < 4 || depth%4 == 0 {
		b.dive(st, extra, shares)
		if b.done || whole(value) >= b.limit {
			return
		}
	}
	p, sum := branchingPattern(shares, len(b.m.f.palettes))
	if p == nil {
		return // whole numbers that the rows do not bear out: rounding has spoiled them
	}
	for i := range 2 {
		r := row{pattern: p, low: -endless, high: endless}
		if up := sum-math.Floor(sum) >= 0.5; up == (i == 0) {
			r.low = int64(math.Ceil(sum))
		} else {
			r.high = int64(math.Floor(sum))
		}
		next := rest{st.n, append(slices.Clone(st.low), r.low), append(slices.Clone(st.high), r.high)}
		b.node(next, append(slices.Clone(extra), r), depth+1)
	}
}

// whole is the least whole number that a solution can be worth whose program is worth x.
func whole(x float64) float64 { return math.Ceil(x - max(1e-6, 1e-10*math.Abs(x))) }

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// take keeps a solution.
func (b *bestOf) take(uses []use) {
	if value := b.worthOf(uses); value < b.limit {
		b.best, b.limit = append([]use{}, uses...), value
		b.done = b.goal.none() || value <= b.bound
	}
}

// exact tells whether nothing is left to do after these nodes.
func (b *bestOf) exact(st rest, extra []row, uses []use) bool {
	for _, u := range uses {
		st = b.off(st, extra, u.v, u.count)
	}
	return st.met()
}

func wholeUses(shares []share) ([]use, bool) {
	var uses []use
	for _, s := range shares {
		n := math.Round(s.amount)
		if math.Abs(n-s.amount) > 1e-6 {
			return nil, false
		}
		if n > 0 {
			uses = append(uses, use{s.v, int64(n)})
		}
	}
	return uses, true
}

// branchingPattern gives a pattern of which the solution has a fraction.
func branchingPattern(shares []share, palettes int) (*pattern, float64) {
	var best *pattern
	var bestSum float64
	try := func(p *pattern) {
		sum := 0.0
		for _, s := range shares {
			if p.has(s.v) {
				sum += s.amount
			}
		}
		if off(sum) > 1e-6 && (best == nil || off(sum) > off(bestSum)+1e-9) {
			best, bestSum = p, sum
		}
	}
	words := len(shares[0].v.blocks)
	for p := range palettes {
		try(&pattern{newSet(words), p})
	}
	if best != nil {
		return best, bestSum
	}
	all := newSet(words)
	for _, s := range shares {
		all.union(s.v.blocks)
	}
	of := func(pal int, blocks ...int) *pattern {
		p := &pattern{newSet(words), pal}
		for _, b := range blocks {
			p.blocks.add(b)
		}
		return p
	}
	for _, pals := range [][]int{{-1}, upTo(palettes)} {
		for _, pal := range pals {
			for b := all.next(0); b >= 0; b = all.next(b + 1) {
				try(of(pal, b))
			}
		}
		if best != nil {
			return best, bestSum
		}
		for _, pal := range pals {
			for b := all.next(0); b >= 0; b = all.next(b + 1) {
				for c := all.next(b + 1); c >= 0; c = all.next(c + 1) {
					try(of(pal, b, c))
				}
			}
		}
		if best != nil {
			return best, bestSum
		}
	}
	for _, s := range shares { // of the varieties with a fraction, one without more special ones
		if off(s.amount) <= 1e-6 || slices.ContainsFunc(shares, func(o share) bool {
			return o.at != s.at && o.v.pal == s.v.pal && off(o.amount) > 1e-6 && s.v.blocks.subsetOf(o.v.blocks)
		}) {
			continue
		}
		try(&pattern{s.v.blocks, s.v.pal})
	}
	return best, bestSum
}

func off(x float64) float64 { return math.Abs(x - math.Round(x)) }

// dive takes whole nodes off: the whole part of each share, or one node of the greatest fraction, until nothing is left.
func (b *bestOf) dive(st rest, extra []row, shares []share) {
	var uses []use
	for range 4 * (len(b.m.rows) + len(shares) + 4) {
		took := false
		top := -1
		for i, s := range shares {
			if k := int64(s.amount + 1e-6); k > 0 {
				st = b.off(st, extra, s.v, k)
				uses = append(uses, use{s.v, k})
				took = true
			}
			if f := s.amount - math.Floor(s.amount+1e-6); top < 0 || f > shares[top].amount-math.Floor(shares[top].amount+1e-6)+1e-9 {
				top = i
			}
		}
		if !took && top >= 0 {
			st = b.off(st, extra, shares[top].v, 1)
			uses = append(uses, use{shares[top].v, 1})
		}
		if st.n <= 0 {
			if st.met() {
				b.take(pooled(uses))
			}
			return
		}
		l := b.m.newSimplex(st, extra, b.goal)
		if l.run() != solved || whole(b.worthOf(uses)+l.value(true)) >= b.limit {
			return
		}
		if shares = l.shares(); len(shares) == 0 {
			return
		}
	}
}

// off is what is left after count nodes, also of the branches' rows.
func (b *bestOf) off(st rest, extra []row, v *variety, count int64) rest {
	out := b.m.after(st, v, count)
	for i := range extra {
		a, at := extra[i].of(v)*count, len(b.m.rows)+i
		if out.low[at] > -endless {
			out.low[at] -= a
		}
		if out.high[at] < endless {
			out.high[at] -= a
		}
	}
	return out
}

func pooled(uses []use) []use {
	var out []use
	for _, u := range uses {
		if i := slices.IndexFunc(out, func(o use) bool { return o.v == u.v }); i >= 0 {
			out[i].count += u.count
		} else {
			out = append(out, u)
		}
	}
	return out
}

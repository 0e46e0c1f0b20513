package solver

import (
	"math"
	"slices"

	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
)

// branch and price: a linear program bounds what can be had; where its solution has fractions of nodes, the number of
// nodes of some pattern is a fraction too, and is rounded up in one branch and down in the other. Patterns are tried
// from the plainest (a palette) to the most special (one variety), of which some always has a fraction if there is any.
// Where nodes with the same services must have the same types and the solution has two of them, one branch is without the
// one kind, the other without the other.
// Before that, a dive takes whole nodes off again and again, which mostly finds a solution at once.

// bestOf is the search for the best whole solution.
type bestOf struct {
	m      *mixer
	goal   goal
	own    *variety // of which the caller's last row asks for a node; its part in a proof is left out
	limit  float64  // solutions must be worth less
	best   []use
	bound  float64    // what no solution can be less than, as far as known
	proof  []cutWorth // that there is none: one for each branch; worth nothing where broken
	broken bool
	done   bool
}

// decide finds the best solution whose value is less than limit; nil where there is none, or where the watch ended
// before one was found.
func (m *mixer) decide(st rest, g goal, limit float64, extra ...row) *bestOf {
	b := &bestOf{m: m, goal: g, limit: limit, bound: math.Inf(-1)}
	b.run(st, extra)
	return b
}

// solve solves the linear program for what is left, from the basis of l, or from the last one without branches, if that
// serves.
func (m *mixer) solve(l *simplex, st rest, extra []row, g goal) (*simplex, outcome) {
	if l == nil && len(extra) == 0 && m.warm != nil {
		l = m.warm.clone()
	}
	if l != nil && l.rebase(st, g) {
		if out := l.run(); out != unfit {
			return l, out
		}
	}
	l = m.newSimplex(st, extra, g)
	return l, l.run()
}

// worthOf is the value of a solution.
func (b *bestOf) worthOf(uses []use) float64 {
	sum := 0.0
	for _, u := range uses {
		sum += b.goal.of(u.v) * float64(u.count)
	}
	return sum
}

// fork is a branch that was not looked into yet.
type fork struct {
	st    rest
	extra []row
	bound float64 // of the program before
	depth int
}

// run goes through the branches, the most promising first and of those the deepest.
func (b *bestOf) run(st rest, extra []row) {
	open := []fork{{st: st, extra: extra, bound: math.Inf(-1)}}
	for turn := 0; len(open) > 0 && !b.done && !b.m.w.stop(); turn++ {
		top := len(open) - 1
		for i := top - 1; i >= 0; i-- {
			if open[i].bound < open[top].bound || open[i].bound == open[top].bound && open[i].depth > open[top].depth {
				top = i
			}
		}
		f := open[top]
		open = slices.Delete(open, top, top+1)
		b.bound = max(b.bound, f.bound) // no branch that is left has less
		if f.bound < b.limit {
			open = b.node(f, open, turn%16 == 0)
		}
	}
	if len(open) == 0 && !b.m.w.ended && b.best != nil {
		b.bound = b.limit
	}
}

func (b *bestOf) node(f fork, open []fork, dive bool) []fork {
	if f.st.n == 0 {
		b.broken = true
		if f.st.met() {
			b.take(nil)
		}
		return open
	}
	l, out := b.m.solve(nil, f.st, f.extra, b.goal)
	if out == empty {
		b.proof = append(b.proof, cutWorth{worth: l.worth(false), least: dot(l.y, l.rhs) - l.asked(b.own)})
		return open
	}
	b.broken = b.broken || out != solved || !b.goal.none()
	if out != solved {
		b.m.unsure = b.m.unsure || out == noAnswer
		return open
	}
	value := whole(l.value(true))
	if f.depth == 0 {
		b.bound = value
	}
	if value >= b.limit {
		return open
	}
	if f.depth == 0 && len(f.extra) == 0 {
		b.m.warm = l.clone()
	}
	shares := l.shares()
	if v, o := b.m.clash(len(shares), func(i int) *variety { return shares[i].v }); v != nil {
		for _, k := range []*variety{v, o} { // the rest has none of one kind, or none of the other
			next := f.st
			next.shut = append(slices.Clone(f.st.shut), k)
			open = append(open, fork{next, f.extra, value, f.depth + 1})
		}
		return open
	}
	if uses, whole := wholeUses(shares); whole && b.exact(f.st, f.extra, uses) {
		b.take(uses)
		return open
	}
	if dive {
		b.dive(l, f.st, f.extra, shares)
		if b.done || value >= b.limit {
			return open
		}
	}
	p, sum := branchingPattern(shares, len(b.m.f.palettes))
	if p == nil {
		b.broken = true
		return open // whole numbers that the rows do not bear out: rounding has spoiled them
	}
	for i := range 2 { // the nearer one last, so that it is looked into first
		r := row{pattern: p, low: -load.Endless, high: load.Endless}
		if up := sum-math.Floor(sum) >= 0.5; up == (i == 1) {
			r.low = int64(math.Ceil(sum))
		} else {
			r.high = int64(math.Floor(sum))
		}
		next := rest{f.st.n, append(slices.Clone(f.st.low), r.low), append(slices.Clone(f.st.high), r.high), f.st.shut}
		open = append(open, fork{next, append(slices.Clone(f.extra), r), value, f.depth + 1})
	}
	return open
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
	if value := b.worthOf(uses); value < b.limit && !b.m.clashing(uses) {
		b.best, b.limit = append([]use{}, uses...), value
		b.done = b.goal.none() || value <= b.bound
	}
}

// exact reports whether nothing is left to do after these nodes.
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

// branchingPattern returns a pattern of which the solution has a fraction.
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
		try(&pattern{bitset.New(words), p})
	}
	if best != nil {
		return best, bestSum
	}
	all := bitset.New(words)
	for _, s := range shares {
		all.Union(s.v.blocks)
	}
	of := func(pal int, blocks ...int) *pattern {
		p := &pattern{bitset.New(words), pal}
		for _, b := range blocks {
			p.blocks.Add(b)
		}
		return p
	}
	for _, pals := range [][]int{{-1}, upTo(palettes)} {
		for _, pal := range pals {
			for b := all.Next(0); b >= 0; b = all.Next(b + 1) {
				try(of(pal, b))
			}
		}
		if best != nil {
			return best, bestSum
		}
		for _, pal := range pals {
			for b := all.Next(0); b >= 0; b = all.Next(b + 1) {
				for c := all.Next(b + 1); c >= 0; c = all.Next(c + 1) {
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
			return o.at != s.at && o.v.pal == s.v.pal && off(o.amount) > 1e-6 && s.v.blocks.SubsetOf(o.v.blocks)
		}) {
			continue
		}
		try(&pattern{s.v.blocks, s.v.pal})
	}
	return best, bestSum
}

func off(x float64) float64 { return math.Abs(x - math.Round(x)) }

// dive takes whole nodes off: the whole part of each share, or one node of the greatest fraction, until nothing is left.
func (b *bestOf) dive(l *simplex, st rest, extra []row, shares []share) {
	var uses []use
	var out outcome
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
		if l, out = b.m.solve(l, st, extra, b.goal); out != solved || whole(b.worthOf(uses)+l.value(true)) >= b.limit {
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
		if out.low[at] > -load.Endless {
			out.low[at] -= a
		}
		if out.high[at] < load.Endless {
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

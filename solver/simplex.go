package solver

import (
	"maps"
	"math"
	"slices"

	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
)

// goal is what a linear program minimises: the cost of nodes by their palette, the number of nodes with at least over
// services, or, of all that is possible, minus the number of one kind. The zero value asks only whether there is
// something.
type goal struct {
	pal   []int64
	over  int64
	least *variety
}

func (g *goal) of(v *variety) float64 {
	switch {
	case g.pal != nil:
		return float64(g.pal[v.pal])
	case g.over > 0 && v.size >= g.over:
		return 1
	case g.least != nil && g.least.kind == v.kind:
		return -1
	}
	return 0
}

func (g *goal) none() bool { return g.pal == nil && g.over == 0 && g.least == nil }

const small = 1e-7

// side is one inequality of the program, turned so that its right side is not negative.
type side struct {
	row  int     // -1: the number of nodes
	high bool    // whether it is the row's upper bound
	sign float64 // of the row's coefficients
	free float64 // coefficient of its surplus; 0 where it is an equation
}

// simplex is a linear program over varieties. Its columns are the pool's, then one surplus and one artificial for each
// side.
type simplex struct {
	m       *mixer
	extra   []row // of branches
	goal    goal
	scale   float64 // of the goal, so that it is about 1
	sides   []side
	rhs     []float64
	inverse [][]float64
	basis   []int // index into pool; or -1-i for the surplus, -1-i-len(sides) for the artificial of side i
	inBasis map[int]bool
	amount  []float64
	coefs   [][]entry // per pool entry: what is not 0
	pivots  int
	shut    []*variety // kinds that may not be used
	closed  []bool     // per kind of shut
	at      int        // where entering continues
	y       []float64
	u       []float64
}

// clone returns a program with the same basis that shares nothing that changes.
func (l *simplex) clone() *simplex {
	c := *l
	c.inverse = make([][]float64, len(l.inverse))
	for i, r := range l.inverse {
		c.inverse[i] = slices.Clone(r)
	}
	c.basis, c.amount, c.inBasis = slices.Clone(l.basis), slices.Clone(l.amount), maps.Clone(l.inBasis)
	c.rhs, c.y, c.u, c.coefs = slices.Clone(l.rhs), slices.Clone(l.y), slices.Clone(l.u), slices.Clone(l.coefs)
	return &c
}

// stale is after how many pivots a basis is not used for the next program, lest rounding add up.
const stale = 1500

// rebase makes the program one for what is left now, with the basis that it has; run repairs what does not fit. It returns
// false where the basis cannot serve.
func (l *simplex) rebase(st rest, g goal) bool {
	if l.pivots > stale || slices.ContainsFunc(l.basis, func(j int) bool { return j < -len(l.sides) }) {
		return false
	}
	l.shutOut(st.shut)
	if slices.ContainsFunc(l.basis, func(j int) bool { return j >= 0 && l.isShut(l.m.pool[j]) }) {
		return false
	}
	at := 1
	for i := range st.low {
		if st.low[i] > -load.Endless {
			if at >= len(l.sides) || l.sides[at].row != i || l.sides[at].high {
				return false
			}
			l.rhs[at] = l.sides[at].sign * float64(st.low[i])
			at++
		}
		if st.high[i] < load.Endless {
			if at >= len(l.sides) || l.sides[at].row != i || !l.sides[at].high {
				return false
			}
			l.rhs[at] = l.sides[at].sign * float64(st.high[i])
			at++
		}
	}
	if at != len(l.sides) {
		return false
	}
	l.rhs[0] = l.sides[0].sign * float64(st.n)
	for i, row := range l.inverse {
		if l.amount[i] = dot(row, l.rhs); math.Abs(l.amount[i]) < 1e-11 {
			l.amount[i] = 0
		}
	}
	l.goal, l.scale = g, scaleOf(g)
	return true
}

func (l *simplex) shutOut(kinds []*variety) {
	l.shut, l.closed = kinds, nil
	for _, v := range kinds {
		for len(l.closed) <= v.kind {
			l.closed = append(l.closed, false)
		}
		l.closed[v.kind] = true
	}
}

func (l *simplex) isShut(v *variety) bool { return v.kind < len(l.closed) && l.closed[v.kind] }

// barred returns the sets that are not worth looking for on a palette: kinds that may not be used, and those that rows
// count, of which all varieties are in the pool.
func (l *simplex) barred(pal int) (out []bitset.Set) {
	m := l.m
	for _, v := range l.shut {
		if m.typesOf[v.pal] == m.typesOf[pal] {
			out = append(out, v.blocks)
		}
	}
	for i := range l.extra {
		if v := l.extra[i].only; v != nil && m.typesOf[v.pal] == m.typesOf[pal] {
			out = append(out, v.blocks)
		}
	}
	return out
}

func scaleOf(g goal) float64 {
	scale := 1.0
	for _, c := range g.pal {
		scale = max(scale, float64(c))
	}
	return scale
}

// restore makes the amounts of a rebased program positive again, by the dual simplex method as far as the goal is the
// same as before. Where that cannot be done, its row is the proof, unless a variety is found that helps.
func (l *simplex) restore() outcome {
	second := !l.goal.none()
	for range 10 * len(l.sides) {
		out := 0
		for i, a := range l.amount {
			if a < l.amount[out] {
				out = i
			}
		}
		if l.amount[out] > -1e-8 {
			for i := range l.amount {
				l.amount[i] = max(0, l.amount[i])
			}
			return solved
		}
		if l.m.w.stop() {
			return noAnswer
		}
		l.duals(second)
		row := l.inverse[out]
		best, at, pivot, found := math.Inf(1), 0, 0.0, false
		try := func(j int, a, r float64) {
			if a > -1e-7 {
				return
			}
			if ratio := max(0, r) / -a; ratio < best-1e-12 || ratio < best+1e-12 && a < pivot {
				best, at, pivot, found = ratio, j, a, true
			}
		}
		for i, s := range l.sides {
			if s.free != 0 && !l.inBasis[-1-i] {
				try(-1-i, row[i]*s.free, -l.y[i]*s.free)
			}
		}
		for j, v := range l.m.pool {
			if v.size > l.m.most || l.inBasis[j] || l.isShut(v) {
				continue
			}
			a, r := 0.0, l.cost(j, second)
			for _, e := range l.coef(j) {
				a += row[e.side] * e.a
				r -= l.y[e.side] * e.a
			}
			try(j, a, r)
		}
		if found {
			l.transform(at)
			l.swap(out, at, l.amount[out]/l.u[out])
			continue
		}
		for i := range l.y {
			l.y[i] = -row[i]
		}
		top := 0.0
		for _, y := range l.y {
			top = max(top, math.Abs(y))
		}
		for i := range l.y {
			l.y[i] /= max(1, top)
		}
		if !l.priceWith() {
			if l.m.w.ended {
				return noAnswer
			}
			if -l.amount[out]/max(1, top) > 1e-6 {
				return empty
			}
			return unfit
		}
	}
	return unfit
}

// entry is a coefficient of a column.
type entry struct {
	side int
	a    float64
}

type outcome int

const (
	noAnswer outcome = iota // the time was over
	solved
	empty
	unfit // the basis is of no use: begin again
)

// newSimplex states what is left; the bounds of the branches' rows are in st too, after those of the rows.
func (m *mixer) newSimplex(st rest, extra []row, g goal) *simplex {
	l := &simplex{m: m, extra: extra, goal: g, inBasis: map[int]bool{}}
	l.scale = scaleOf(g)
	l.shutOut(st.shut)
	add := func(row int, high bool, sign, r, free float64) {
		if row >= 0 && row < len(m.rows) { // prices may be large numbers
			top := int64(1)
			for _, a := range m.rows[row].pal {
				top = max(top, a)
			}
			for _, p := range m.rows[row].patterns {
				top = max(top, p.weight)
			}
			sign /= float64(top)
			r /= float64(top)
		}
		if r < 0 || r == 0 && sign*free < 0 {
			sign, r, free = -sign, -r, -free
		}
		l.sides = append(l.sides, side{row, high, sign, free})
		l.rhs = append(l.rhs, r)
	}
	add(-1, false, 1, float64(st.n), 0)
	for i := range st.low {
		if st.low[i] > -load.Endless {
			add(i, false, 1, float64(st.low[i]), -1)
		}
		if st.high[i] < load.Endless {
			add(i, true, 1, float64(st.high[i]), 1)
		}
	}
	k := len(l.sides)
	l.basis, l.amount = make([]int, k), slices.Clone(l.rhs)
	l.y, l.u = make([]float64, k), make([]float64, k)
	l.inverse = make([][]float64, k)
	for i, s := range l.sides {
		l.inverse[i] = make([]float64, k)
		l.inverse[i][i] = 1
		l.basis[i] = -1 - i - k
		if s.free > 0 {
			l.basis[i] = -1 - i
		}
		l.inBasis[l.basis[i]] = true
	}
	return l
}

// coef returns the column of a pool entry.
func (l *simplex) coef(j int) []entry {
	for len(l.coefs) <= j {
		v := l.m.pool[len(l.coefs)]
		var c []entry
		for i, s := range l.sides {
			a := 1.0
			if s.row >= len(v.coef) {
				a = float64(l.extra[s.row-len(v.coef)].of(v))
			} else if s.row >= 0 {
				a = v.coef[s.row]
			}
			if a != 0 {
				c = append(c, entry{i, s.sign * a})
			}
		}
		l.coefs = append(l.coefs, c)
	}
	return l.coefs[j]
}

func (l *simplex) cost(j int, second bool) float64 {
	switch {
	case j >= 0 && second:
		return l.goal.of(l.m.pool[j]) / l.scale
	case j < -len(l.sides) && !second:
		return 1
	}
	return 0
}

func (l *simplex) duals(second bool) {
	clear(l.y)
	for i, j := range l.basis {
		if c := l.cost(j, second); c != 0 {
			for k, v := range l.inverse[i] {
				l.y[k] += c * v
			}
		}
	}
}

func (l *simplex) value(second bool) float64 {
	sum := 0.0
	for i, j := range l.basis {
		sum += l.cost(j, second) * l.amount[i]
	}
	if second {
		sum *= l.scale
	}
	return sum
}

// run solves the program. After solved, value and amounts stand; after empty, y proves it.
func (l *simplex) run() outcome {
	if out := l.restore(); out != solved {
		return out
	}
	for _, second := range []bool{false, true} {
		if second && l.goal.none() {
			return solved
		}
		dull := 0 // pivots without progress: after many of them the first column is taken, which cannot go round
		for {
			if l.m.w.stop() {
				return noAnswer
			}
			l.duals(second)
			if !second && l.value(false) < small {
				break
			}
			j, ok := l.entering(second, dull > 200)
			if !ok {
				fresh := l.price(second)
				if l.m.w.ended {
					return noAnswer
				}
				if fresh {
					continue
				}
				break
			}
			if l.pivot(j, second) < 1e-9 {
				dull++
			} else {
				dull = 0
			}
			if dull > 5000 {
				return noAnswer
			}
		}
		if !second && l.value(false) > 1e-6 {
			return empty
		}
	}
	return solved
}

// entering finds a column that makes the value smaller; anyone asks for the first, not the best.
func (l *simplex) entering(second, anyone bool) (int, bool) {
	if anyone || l.at >= len(l.m.pool) {
		l.at = 0
	}
	best, at, found := -small, 0, false
	for i, s := range l.sides {
		if r := -l.y[i] * s.free; s.free != 0 && r < best && !l.inBasis[-1-i] {
			best, at, found = r, -1-i, true
			if anyone {
				return at, true
			}
		}
	}
	for seen := range l.m.pool { // some at a time, going round, as most pools have many that will do
		if seen%someColumns == 0 && found {
			break
		}
		j := l.at
		if l.at++; l.at == len(l.m.pool) {
			l.at = 0
		}
		if l.m.pool[j].size > l.m.most || l.isShut(l.m.pool[j]) {
			continue
		}
		r := l.cost(j, second)
		for _, e := range l.coef(j) {
			r -= e.a * l.y[e.side]
		}
		if r < best && !l.inBasis[j] {
			best, at, found = r, j, true
			if anyone {
				return at, true
			}
		}
	}
	return at, found
}

const someColumns = 256

// pivot brings a column into the basis and returns how far it moved.
func (l *simplex) pivot(j int, second bool) float64 {
	k := len(l.sides)
	l.transform(j)
	out, ratio := -1, math.Inf(1)
	for i, u := range l.u {
		r := math.Inf(1)
		switch {
		case second && l.basis[i] < -k && math.Abs(u) > 1e-7:
			r = 0 // what is artificial must stay 0
		case u > 1e-9:
			r = l.amount[i] / u
		}
		if r < ratio-1e-12 || r <= ratio+1e-12 && out >= 0 && math.Abs(u) > math.Abs(l.u[out]) {
			out, ratio = i, r
		}
	}
	if out < 0 {
		return 0 // unbounded, which the number of nodes rules out: numbers have become poor
	}
	l.swap(out, j, ratio)
	return ratio
}

// swap brings column j, of which u holds what it does to each row of the basis, in for the one of row out.
func (l *simplex) swap(out, j int, ratio float64) {
	l.pivots++
	pivot := l.u[out]
	for h := range l.inverse[out] {
		l.inverse[out][h] /= pivot
	}
	for i, u := range l.u {
		if i == out || u == 0 {
			continue
		}
		for h, v := range l.inverse[out] {
			if v != 0 {
				l.inverse[i][h] -= u * v
			}
		}
		if l.amount[i] -= u * ratio; math.Abs(l.amount[i]) < 1e-11 {
			l.amount[i] = 0
		}
	}
	l.amount[out] = ratio
	delete(l.inBasis, l.basis[out])
	l.basis[out] = j
	l.inBasis[j] = true
}

// transform states in u what column j does to each row of the basis.
func (l *simplex) transform(j int) {
	for i := range l.u {
		l.u[i] = 0
		if j < 0 {
			l.u[i] = l.inverse[i][-1-j] * l.sides[-1-j].free
			continue
		}
		for _, e := range l.coef(j) {
			l.u[i] += l.inverse[i][e.side] * e.a
		}
	}
}

// shares returns how many nodes of each variety the solution has, in fractions.
func (l *simplex) shares() []share {
	var out []share
	for i, j := range l.basis {
		if j >= 0 && l.amount[i] > 1e-9 {
			out = append(out, share{l.m.pool[j], l.amount[i], j})
		}
	}
	slices.SortFunc(out, func(a, b share) int { return a.at - b.at })
	return out
}

type share struct {
	v      *variety
	amount float64
	at     int // in the pool
}

// worth is what the duals say about varieties: a sum over blocks, palettes, numbers of services and patterns.
type worth struct {
	block   []float64
	pal     []float64
	over    map[int64]float64
	pattern []patternWorth
}

type patternWorth struct {
	*pattern
	worth float64
}

func (l *simplex) worth(second bool) worth {
	m := l.m
	t := worth{block: make([]float64, m.f.blocks), pal: make([]float64, len(m.f.palettes)), over: map[int64]float64{}}
	for i, s := range l.sides {
		y := l.y[i] * s.sign
		if y == 0 {
			continue
		}
		if s.row < 0 {
			for p := range t.pal {
				t.pal[p] += y
			}
			continue
		}
		r := l.row(s.row)
		for b, a := range r.block {
			t.block[b] += y * float64(a)
		}
		for p, a := range r.pal {
			t.pal[p] += y * float64(a)
		}
		if r.over > 0 {
			t.over[r.over] += y
		}
		if r.pattern != nil {
			t.pattern = append(t.pattern, patternWorth{r.pattern, y})
		}
		for i := range r.patterns {
			t.pattern = append(t.pattern, patternWorth{&r.patterns[i].pattern, y * float64(r.patterns[i].weight)})
		}
	}
	if second {
		for p, c := range l.goal.pal {
			t.pal[p] -= float64(c) / l.scale
		}
		if l.goal.over > 0 {
			t.over[l.goal.over]--
		}
	}
	return t
}

// asked is the part of a proof that comes from rows about the kind of v.
func (l *simplex) asked(v *variety) (sum float64) {
	for i, s := range l.sides {
		if v != nil && s.row >= len(l.m.rows) && l.row(s.row).only != nil && l.row(s.row).only.kind == v.kind {
			sum += l.y[i] * l.rhs[i]
		}
	}
	return sum
}

func (l *simplex) row(i int) *row {
	if i < len(l.m.rows) {
		return &l.m.rows[i]
	}
	return &l.extra[i-len(l.m.rows)]
}

// of is what the duals say a variety is worth, beyond what it costs.
func (t *worth) of(v *variety) float64 {
	sum := t.pal[v.pal]
	for b := v.blocks.Next(0); b >= 0; b = v.blocks.Next(b + 1) {
		sum += t.block[b]
	}
	for over, w := range t.over {
		if v.size >= over {
			sum += w
		}
	}
	for _, p := range t.pattern {
		if p.has(v) {
			sum += p.worth
		}
	}
	return sum
}

// atLeast is what the blocks and patterns of a variety on a palette, with at most so many services, must be worth for the
// variety to be worth anything.
func (t *worth) atLeast(pal int, size int64) float64 {
	sum := -t.pal[pal]
	for over, w := range t.over {
		if over <= size {
			sum -= max(0, w)
		}
	}
	return sum
}

// price looks for varieties that would make the value smaller, and puts the best of each palette into the pool.
func (l *simplex) price(second bool) bool { return l.priceFor(l.worth(second)) }

func (l *simplex) priceWith() bool { return l.priceFor(l.worth(false)) }

func (l *simplex) priceFor(t worth) bool {
	fresh := false
	for _, r := range l.m.sizes(&t) {
		if r[0] == 0 && l.priceGreedily(&t, r[1]) {
			fresh = true
		}
	}
	if fresh {
		return true
	}
	for _, r := range l.m.sizes(&t) {
		if l.priceAt(&t, r) {
			fresh = true
		}
	}
	return fresh
}

// sizes parts the numbers of services on a node into ranges within which the number does not matter. Where more is worth
// more, the lower end counts too; else it is 0.
func (m *mixer) sizes(t *worth) [][2]int64 {
	var steps []int64
	for over := range t.over {
		if over > m.p.base[load.BySize] && over <= m.most {
			steps = append(steps, over)
		}
	}
	slices.Sort(steps)
	var out [][2]int64
	from := int64(0)
	for _, s := range steps {
		out = append(out, [2]int64{from, s - 1})
		if t.over[s] > 0 {
			from = s
		}
	}
	return append(out, [2]int64{from, m.most})
}

// weigh sets the search's worth of blocks in whole numbers, so many for 1.
func (m *mixer) weigh(t *worth) (scale float64) {
	top := 1e-3
	for _, w := range t.block {
		top = max(top, math.Abs(w))
	}
	for _, p := range t.pattern {
		top = max(top, math.Abs(p.worth))
	}
	scale = float64(1<<36) / top
	for b, w := range t.block {
		m.s.weight[b] = int64(math.Round(w * scale))
	}
	m.s.reweigh()
	return scale
}

// priceGreedily looks for varieties in the simplest way: the blocks that are worth most for the room that they take come
// first. It finds some quickly, as long as there are many.
func (l *simplex) priceGreedily(t *worth, most int64) (fresh bool) {
	m := l.m
	m.weigh(t)
	order := m.f.byRoom(m.s.weight)
	blocks := bitset.New(m.f.words)
	for p := range m.f.palettes {
		pal := &m.f.palettes[p]
		for _, by := range order {
			blocks.Clear()
			left := m.roomOf(p, most)
			for _, o := range by {
				b := int(o)
				if pal.blocks.Has(b) && m.f.needs[b].Within(left) && m.f.joins(blocks, m.f.palsOf[b], b) {
					blocks.Add(b)
					left = left.Minus(m.f.needs[b])
				}
			}
			if len(m.p.everywhere) == 0 && blocks.Empty() {
				continue
			}
			probe := variety{blocks: blocks, pal: p, size: m.p.base[load.BySize] + m.f.sum(blocks)[load.BySize]}
			if t.of(&probe) > small {
				v, new := m.variety(blocks, p)
				fresh = fresh || new && !l.isShut(v)
			}
		}
	}
	return fresh
}

// somePalettes is on how many palettes something new is found before the program continues with it.
const somePalettes = 4

// priceAt does so among varieties with so many services.
func (l *simplex) priceAt(t *worth, size [2]int64) (fresh bool) {
	m := l.m
	scale := m.weigh(t)
	type answer struct {
		pal    int
		blocks bitset.Set
	}
	var done []answer
	none, avail := bitset.New(m.f.words), bitset.New(m.f.words)
	found := 0
	for i := range m.f.palettes {
		if found == somePalettes {
			break
		}
		p := (m.turn + i) % len(m.f.palettes)
		m.s.room = m.roomOf(p, size[1])
		m.s.extras = m.patternsOf(t, p, scale, l.barred(p), size[0])
		m.open(t, p, avail, size[0], m.s.extras)
		var best bitset.Set
		for _, d := range done {
			// what was best where more was possible is best here, if it is possible here
			if m.s.extras == nil && m.f.palettes[p].blocks.SubsetOf(m.f.palettes[d.pal].blocks) &&
				m.f.palettes[p].room.Within(m.f.palettes[d.pal].room) && d.blocks.SubsetOf(m.f.palettes[p].blocks) &&
				m.f.sum(d.blocks).Within(m.s.room) {
				best = d.blocks
				break
			}
		}
		if best == nil {
			m.s.clauses = m.mustHave(avail)
			least := int64(min(max((t.atLeast(p, size[1])+small)*scale, -float64(load.Endless)/4), float64(load.Endless)/4))
			_, best = m.s.best(avail, none, least-int64(m.f.blocks), load.Endless, m.f.blocks)
		}
		m.s.extras, m.s.clauses = nil, nil
		if m.w.ended {
			return false
		}
		if best == nil {
			continue
		}
		if size[0] == 0 && len(t.pattern) == 0 && len(l.barred(p)) == 0 {
			done = append(done, answer{p, best.Clone()})
		}
		probe := variety{blocks: best, pal: p, size: m.p.base[load.BySize] + m.f.sum(best)[load.BySize]}
		if t.of(&probe) > small {
			if _, new := m.variety(best, p); new {
				fresh = true
				if found++; found == somePalettes {
					m.turn = p + 1
				}
			}
		}
	}
	return fresh
}

// open returns the blocks that may be worth having on palette p.
func (m *mixer) open(t *worth, p int, avail bitset.Set, least int64, x *extras) {
	avail.CopyFrom(m.f.palettes[p].blocks)
	for b := avail.Next(0); b >= 0; b = avail.Next(b + 1) {
		if !m.f.needs[b].Within(m.s.room) {
			avail.Del(b)
		}
	}
	if least > 0 || x != nil && len(x.banned) > 0 {
		return // what is worth nothing may still make up the number, or make the set another one
	}
	needed := bitset.New(m.f.words)
	for _, o := range t.pattern {
		if o.worth > 0 {
			needed.Union(o.blocks)
		}
	}
	// Of those that are worth nothing only the best one can be wanted, alone, lest the node be empty.
	top, most := -1, 0.0
	for b := avail.Next(0); b >= 0; b = avail.Next(b + 1) {
		if m.s.weight[b] > 0 || needed.Has(b) {
			continue
		}
		alone := t.block[b]
		for _, o := range t.pattern {
			if (o.pal < 0 || o.pal == p) && o.blocks.Has(b) && o.blocks.Count() == 1 {
				alone += o.worth
			}
		}
		if top < 0 || alone > most {
			top, most = b, alone
		}
	}
	for b := avail.Next(0); b >= 0; b = avail.Next(b + 1) {
		if b != top && m.s.weight[b] <= 0 && !needed.Has(b) {
			avail.Del(b)
		}
	}
}

// patternsOf states what patterns and sets that are barred ask of a search on palette p; nil where that is nothing.
func (m *mixer) patternsOf(t *worth, p int, scale float64, barred []bitset.Set, least int64) *extras {
	x := &extras{banned: barred}
	if least > 0 {
		c := cut{least: least - m.p.base[load.BySize]}
		for b := range m.p.blocks {
			c.weight = append(c.weight, m.f.needs[b][load.BySize])
		}
		x.cuts = append(x.cuts, c)
	}
	for _, o := range t.pattern {
		if (o.pal < 0 || o.pal == p) && o.blocks.SubsetOf(m.f.palettes[p].blocks) {
			x.bonuses = append(x.bonuses, bonus{o.blocks, int64(math.Round(o.worth * scale))})
		}
	}
	if len(x.bonuses) == 0 && len(x.cuts) == 0 && len(barred) == 0 {
		return nil
	}
	return x
}

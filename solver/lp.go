package solver

import (
	"math"

	"muster/solver/internal/bitset"
)

// verdict is what the linear program knows about a covering.
type verdict int

const (
	unknown verdict = iota
	possible
	impossible
)

// scale turns the prices of blocks into whole numbers, so that the proof that a covering is impossible is exact and
// does not rest on rounding. slackPrice is how much cheaper than a node a set may be before it is not worth a column.
const (
	scale      = int64(1) << 32
	slackPrice = scale >> 24
)

// program is a linear program by column generation: the fewest nodes, in fractions, that give each block what it needs.
// A column is a set of blocks that may share a node. The duals are prices of blocks; a set whose blocks cost more than
// one node is a column worth adding, and finding it is a search for the heaviest set.
type program struct {
	rows    []int // the block of each row
	rhs     []float64
	inverse [][]float64
	basis   []column // per row
	amount  []float64
}

// column is a set of blocks, or, with blocks nil, what is left over of the block in row spare.
type column struct {
	blocks bitset.Set
	spare  int
}

// linear tries to decide a part by its linear program. core holds the blocks that prove an impossibility.
func (o *oracle) linear(part bitset.Set, need []int, n int) (verdict, bitset.Set) {
	l := newProgram(part, need, o.f.words)
	rounded := false
	for range 60 * len(l.rows) {
		if o.w.stop() {
			return unknown, nil
		}
		prices := l.prices()
		if spare, price := l.mostNegative(prices); price < -1e-9 {
			if !l.enter(column{spare: spare}) {
				return unknown, nil
			}
			continue
		}
		blocks, worth, core := o.dearest(l, prices)
		var total int64
		for i, b := range l.rows {
			total += int64(need[b]) * units(prices[i])
		}
		if total/int64(n) > worth || total/int64(n) == worth && total%int64(n) > 0 {
			return impossible, core
		}
		done := blocks == nil
		if l.nodes() <= float64(n)+1e-9 && (done || !rounded) {
			rounded = true
			if o.round(l, part, need, n) {
				return possible, nil
			}
		}
		if done || !l.enter(column{blocks: blocks}) {
			return unknown, nil
		}
	}
	return unknown, nil
}

func newProgram(part bitset.Set, need []int, words int) *program {
	l := &program{}
	for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
		alone := bitset.New(words)
		alone.Add(b)
		l.rows = append(l.rows, b)
		l.basis = append(l.basis, column{blocks: alone})
		l.rhs = append(l.rhs, float64(need[b]))
		l.amount = append(l.amount, float64(need[b]))
	}
	l.inverse = make([][]float64, len(l.rows))
	for i := range l.inverse {
		l.inverse[i] = make([]float64, len(l.rows))
		l.inverse[i][i] = 1
	}
	return l
}

// nodes is the value of the program.
func (l *program) nodes() float64 {
	sum := 0.0
	for i, c := range l.basis {
		if c.blocks != nil {
			sum += l.amount[i]
		}
	}
	return sum
}

// prices are the duals, one per row.
func (l *program) prices() []float64 {
	y := make([]float64, len(l.rows))
	for i, c := range l.basis {
		if c.blocks != nil {
			for j, v := range l.inverse[i] {
				y[j] += v
			}
		}
	}
	return y
}

func (l *program) mostNegative(prices []float64) (row int, price float64) {
	for i, y := range prices {
		if y < price {
			row, price = i, y
		}
	}
	return row, price
}

// enter brings a column into the basis. It returns false where numbers have become too poor to continue.
func (l *program) enter(c column) bool {
	m := len(l.rows)
	u := make([]float64, m)
	for i := range u {
		if c.blocks == nil {
			u[i] = -l.inverse[i][c.spare]
			continue
		}
		for j, b := range l.rows {
			if c.blocks.Has(b) {
				u[i] += l.inverse[i][j]
			}
		}
	}
	out, ratio := -1, math.Inf(1)
	for i := range u {
		if u[i] <= 1e-9 {
			continue
		}
		r := l.amount[i] / u[i]
		if r < ratio-1e-12 || r <= ratio+1e-12 && u[i] > u[out] {
			out, ratio = i, r
		}
	}
	if out < 0 {
		return false
	}
	for j := range l.inverse[out] {
		l.inverse[out][j] /= u[out]
	}
	for i := range u {
		if i == out || u[i] == 0 {
			continue
		}
		for j, v := range l.inverse[out] {
			l.inverse[i][j] -= u[i] * v
		}
		l.amount[i] = math.Max(0, l.amount[i]-u[i]*ratio)
	}
	l.amount[out] = ratio
	l.basis[out] = c
	return true
}

func units(price float64) int64 { return int64(math.Max(0, price) * float64(scale)) }

// dearest finds the set with the greatest sum of prices. blocks is nil where none costs noticeably more than one node;
// worth is then a bound all the same. core holds the blocks that have a price.
func (o *oracle) dearest(l *program, prices []float64) (blocks bitset.Set, worth int64, core bitset.Set) {
	core = bitset.New(o.f.words)
	for i, b := range l.rows {
		if o.price.weight[b] = units(prices[i]); o.price.weight[b] > 0 {
			core.Add(b)
		}
	}
	o.price.reweigh()
	none, fit := bitset.New(o.f.words), bitset.New(o.f.words)
	worth = scale + slackPrice
	for _, p := range o.f.palettes {
		fit.CopyFrom(core)
		fit.Intersect(p.blocks)
		o.price.room = p.room
		if got, picks := o.price.best(fit, none, worth+1, math.MaxInt64, o.f.blocks); picks != nil {
			worth, blocks = got, picks
		}
		if core.SubsetOf(p.blocks) && (!o.f.heavy || o.f.sum(core).Within(p.room)) {
			break
		}
	}
	return blocks, worth, core
}

// round takes the whole part of each column, or one less, and asks whether the nodes that are left can do the little
// that is left.
func (o *oracle) round(l *program, part bitset.Set, need []int, n int) bool {
	for less := range 2 {
		rest := make([]int, len(need))
		for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
			rest[b] = need[b]
		}
		left := n
		for i, c := range l.basis {
			k := int(l.amount[i]+1e-7) - less
			if c.blocks == nil || k <= 0 {
				continue
			}
			left -= k
			for b := c.blocks.Next(0); b >= 0; b = c.blocks.Next(b + 1) {
				rest[b] = max(0, rest[b]-k)
			}
		}
		if left < 0 || left == n {
			return false // with all nodes still left it would be the same question again
		}
		if ok, _ := o.coverable(rest, left); ok {
			return true
		}
	}
	return false
}

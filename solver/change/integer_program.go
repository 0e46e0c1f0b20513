package change

import (
	"context"
	"math"
)

// deadline remembers that the context has ended.
type deadline struct {
	ctx   context.Context
	ended bool
}

// integerProgram is a program in whole numbers: variables between bounds, rows that are sums of them between bounds, and one row
// after the other that is to be as small as can be. It is solved by branch and bound over a bounded simplex in
// dictionary form: each basic variable is written as a sum of the others. Bounds may change at any time, the dictionary
// stays true, so every question starts where the last one ended.
type integerProgram struct {
	w      *deadline
	vars   int         // those asked about; rows have their own variables after them
	lo, hi []float64   // per variable
	x      []float64   // per variable
	where  []int       // per variable: its row where it is basic, else the complement of its column
	top    []bool      // per variable, where it is not basic: it sits at hi
	basic  []int       // per row
	others []int       // per column
	t      [][]float64 // per row, per column
	rules  []keptSum   // what a whole-number answer is checked against
	best   []int       // the best answer so far, per variable
	steps  int         // of the simplex, since all values were computed again
	slope  []float64   // room for slopes, per column
	used   []int       // room for the columns that a pivot touches
}

// weighed is a weighed sum of variables, with what is always part of it.
type weighed struct {
	always float64
	at     []int
	by     []float64
}

// keptSum is a weighed sum with bounds, among which its constant part was not counted.
type keptSum struct {
	weighed
	lo, hi float64
}

const (
	nearly      = 1e-7 // bounds are kept up to this
	hardly      = 1e-9 // coefficients and slopes below this count as nothing
	integrality = 1e-6 // how far from a whole number counts as whole
)

func newIntegerProgram(w *deadline, tops []int) *integerProgram {
	p := &integerProgram{w: w, vars: len(tops), slope: make([]float64, len(tops))}
	for i, hi := range tops {
		p.lo, p.hi = append(p.lo, 0), append(p.hi, float64(hi))
		p.x, p.top = append(p.x, 0), append(p.top, false)
		p.where = append(p.where, ^i)
		p.others = append(p.others, i)
	}
	return p
}

func (s weighed) of(x []int) float64 {
	v := s.always
	for i, at := range s.at {
		v += s.by[i] * float64(x[at])
	}
	return v
}

// open returns the variables of s that are not fixed.
func (p *integerProgram) open(s weighed) []int {
	var out []int
	for i, at := range s.at {
		if s.by[i] != 0 && p.hi[at] > p.lo[at] {
			out = append(out, at)
		}
	}
	return out
}

// keep states that s is from lo to hi. It returns false where no value of the variables can do that.
func (p *integerProgram) keep(s weighed, lo, hi float64) bool {
	lo, hi = lo-s.always, hi-s.always
	least, most := 0.0, 0.0
	for i, at := range s.at {
		a, b := s.by[i]*p.lo[at], s.by[i]*p.hi[at]
		least, most = least+min(a, b), most+max(a, b)
	}
	if lo > hi || least > hi+nearly || most < lo-nearly {
		return false
	}
	p.rules = append(p.rules, keptSum{s, lo, hi})
	if least >= lo-nearly && most <= hi+nearly {
		return true // it always holds
	}
	z := p.row(s)
	p.lo[z], p.hi[z] = lo, hi
	return true
}

// row writes s, without its constant part, as a new basic variable without bounds.
func (p *integerProgram) row(s weighed) int {
	z := len(p.x)
	line := make([]float64, len(p.others))
	value := 0.0
	for i, at := range s.at {
		value += s.by[i] * p.x[at]
		if c := ^p.where[at]; c >= 0 {
			line[c] += s.by[i]
			continue
		}
		for c, f := range p.t[p.where[at]] {
			line[c] += s.by[i] * f
		}
	}
	p.lo, p.hi = append(p.lo, math.Inf(-1)), append(p.hi, math.Inf(1))
	p.x, p.top = append(p.x, value), append(p.top, false)
	p.where = append(p.where, len(p.t))
	p.t = append(p.t, line)
	p.basic = append(p.basic, z)
	return z
}

// drop takes the row of a variable without bounds away again. Such a variable is always basic.
func (p *integerProgram) drop(z int) {
	at, last := p.where[z], len(p.t)-1
	p.t[at], p.basic[at] = p.t[last], p.basic[last]
	p.where[p.basic[at]] = at
	p.t, p.basic = p.t[:last], p.basic[:last]
	p.lo, p.hi, p.x, p.top, p.where = p.lo[:z], p.hi[:z], p.x[:z], p.top[:z], p.where[:z]
}

// least finds the answer with the smallest s, starting from the best one so far, which is one of those asked for. It
// returns false where there is none, or where the deadline has passed before one was found.
func (p *integerProgram) least(s weighed, fractions bool) bool {
	if p.best != nil && len(p.open(s)) == 0 {
		return true
	}
	z := p.row(s)
	p.descend(z, s, fractions)
	p.drop(z)
	return p.best != nil
}

// pin fixes s at the value that the best answer has; slack is how much more it may be.
func (p *integerProgram) pin(s weighed, slack float64) {
	switch open := p.open(s); len(open) {
	case 0:
	case 1:
		if slack == 0 {
			v := float64(p.best[open[0]])
			p.lo[open[0]], p.hi[open[0]] = v, v
			return
		}
		fallthrough
	default:
		v := s.of(p.best)
		p.keep(s, v-slack, v+slack)
	}
}

func (p *integerProgram) descend(z int, s weighed, fractions bool) {
	if p.over() || !p.simplex(z) {
		return
	}
	if p.best != nil {
		gap := 1 - 1e-5
		have := s.of(p.best) - s.always
		if fractions {
			gap = 1e-9 * max(1, math.Abs(have))
		}
		if p.x[z] > have-gap {
			return
		}
	}
	at := p.broken()
	if at < 0 {
		p.accept(s)
		return
	}
	v, lo, hi := p.x[at], p.lo[at], p.hi[at]
	down := v-math.Floor(v) < 0.5
	for range 2 {
		if down {
			p.hi[at] = math.Floor(v)
		} else {
			p.lo[at] = math.Ceil(v)
		}
		p.descend(z, s, fractions)
		p.lo[at], p.hi[at] = lo, hi
		down = !down
	}
}

// over reports whether the time is over. A round of the simplex takes far longer than asking.
func (p *integerProgram) over() bool {
	if !p.w.ended {
		p.w.ended = p.w.ctx.Err() != nil
	}
	return p.w.ended
}

// broken returns the variable furthest from a whole number, or -1.
func (p *integerProgram) broken() int {
	at, far := -1, integrality
	for i, v := range p.x[:p.vars] {
		if d := math.Abs(v - math.Round(v)); d > far {
			at, far = i, d
		}
	}
	return at
}

// accept takes the values as the best answer, if they keep all rules to the letter and are better.
func (p *integerProgram) accept(s weighed) {
	x := make([]int, p.vars)
	for i := range x {
		x[i] = int(math.Round(p.x[i]))
	}
	for _, r := range p.rules {
		if v := r.of(x) - r.always; v < r.lo-nearly || v > r.hi+nearly {
			return
		}
	}
	if p.best == nil || s.of(x) < s.of(p.best) {
		p.best = x
	}
}

// simplex brings all variables between their bounds, then z to its least value. It returns false where that cannot be.
func (p *integerProgram) simplex(z int) bool {
	p.settle()
	slope := p.slope[:len(p.others)]
	for round := 0; ; round++ {
		if p.over() {
			return false
		}
		if p.steps >= 64 {
			p.settle()
		}
		p.steps++
		outside := p.slopes(z, slope)
		careful := round > 20*(len(p.t)+10) // then by Bland's rule, which never goes in circles
		c := p.entering(slope, careful)
		if c < 0 {
			return !outside
		}
		p.step(c, slope[c] < 0, careful)
	}
}

// settle brings the variables that are not basic to their bounds, which may have changed. Now and then it computes the
// basic ones again, so that roundings do not add up.
func (p *integerProgram) settle() {
	for c, v := range p.others {
		goal := p.lo[v]
		if p.top[v] = p.top[v] && !math.IsInf(p.hi[v], 1) || math.IsInf(p.lo[v], -1); p.top[v] {
			goal = p.hi[v]
		}
		if by := goal - p.x[v]; by != 0 {
			p.x[v] = goal
			for r, b := range p.basic {
				p.x[b] += by * p.t[r][c]
			}
		}
	}
	if p.steps < 64 {
		return
	}
	p.steps = 0
	for r, line := range p.t {
		v := 0.0
		for c, f := range line {
			if f != 0 {
				v += f * p.x[p.others[c]]
			}
		}
		p.x[p.basic[r]] = v
	}
}

// slopes writes how what is to be made small changes with each variable that is not basic: how far basic ones are
// outside their bounds, or z where none is.
func (p *integerProgram) slopes(z int, slope []float64) (outside bool) {
	for i := range slope {
		slope[i] = 0
	}
	for r, v := range p.basic {
		var way float64
		switch {
		case p.x[v] > p.hi[v]+nearly:
			way = 1
		case p.x[v] < p.lo[v]-nearly:
			way = -1
		default:
			continue
		}
		outside = true
		for c, f := range p.t[r] {
			slope[c] += way * f
		}
	}
	if !outside {
		copy(slope, p.t[p.where[z]])
	}
	return outside
}

func (p *integerProgram) entering(slope []float64, careful bool) int {
	at, steep := -1, hardly
	for c, d := range slope {
		v := p.others[c]
		if p.hi[v]-p.lo[v] < hardly || (d < 0) == p.top[v] {
			continue
		}
		if d = math.Abs(d); d > steep {
			if careful && at >= 0 && p.others[at] < v {
				continue
			}
			at = c
			if !careful {
				steep = d
			}
		}
	}
	return at
}

// step moves the variable of column c up or down until a basic one, or itself, comes to a bound.
func (p *integerProgram) step(c int, up, careful bool) {
	enter, way := p.others[c], -1.0
	if up {
		way = 1
	}
	length, row, pivot, toHi := p.hi[enter]-p.lo[enter], -1, 0.0, false
	for r, v := range p.basic {
		rate := way * p.t[r][c]
		if math.Abs(rate) < 1e-8 {
			continue
		}
		goal, hi, stops := p.goal(v, rate)
		if !stops {
			continue
		}
		far := (goal - p.x[v]) / rate
		far = max(far, 0)
		if far < length-hardly || far < length+hardly && row >= 0 && p.rather(careful, v, row, rate, pivot) {
			length, row, pivot, toHi = far, r, rate, hi
		}
	}
	p.x[enter] += way * length
	for r, v := range p.basic {
		p.x[v] += way * length * p.t[r][c]
	}
	if row < 0 {
		p.top[enter] = up
		return
	}
	leave := p.basic[row]
	p.top[leave] = toHi
	p.pivot(row, c)
}

// goal returns the bound at which v stops a step in which it changes at that rate. One that is outside already stops it
// where it comes in, and not at all where it goes further out.
func (p *integerProgram) goal(v int, rate float64) (bound float64, hi, stops bool) {
	lo, top, x := p.lo[v], p.hi[v], p.x[v]
	if rate > 0 {
		if x < lo-nearly {
			return lo, false, true
		}
		return top, true, x <= top+nearly && !math.IsInf(top, 1)
	}
	if x > top+nearly {
		return top, true, true
	}
	return lo, false, x >= lo-nearly && !math.IsInf(lo, -1)
}

// rather says whether of two that come to a bound at once v leaves: the one with the greater pivot is safer.
func (p *integerProgram) rather(careful bool, v, row int, rate, pivot float64) bool {
	if careful {
		return v < p.basic[row]
	}
	return math.Abs(rate) > math.Abs(pivot)
}

func (p *integerProgram) pivot(row, c int) {
	enter, leave := p.others[c], p.basic[row]
	line := p.t[row]
	f := 1 / line[c]
	for k := range line {
		line[k] *= -f
	}
	line[c] = f
	used := p.used[:0]
	for k, v := range line {
		if math.Abs(v) < 1e-12 {
			line[k] = 0
		} else if k != c {
			used = append(used, k)
		}
	}
	p.used = used
	for r, other := range p.t {
		g := other[c]
		if r == row || g == 0 {
			continue
		}
		for _, k := range used {
			other[k] += g * line[k]
		}
		other[c] = g * f
	}
	p.basic[row], p.others[c] = enter, leave
	p.where[enter], p.where[leave] = row, ^c
	p.x[leave] = p.lo[leave]
	if p.top[leave] {
		p.x[leave] = p.hi[leave]
	}
}

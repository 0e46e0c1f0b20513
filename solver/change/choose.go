package change

import (
	"maps"
	"math"
	"slices"

	"muster/app/template"
)

// chooser decides how many nodes of each class meet which fate: first the fewest nodes where their number is open, then
// the fewest machines touched, the fewest new ones, the fewest services moved, then what is preferred.
//
// Counts are the unknowns, so a thousand equal nodes cost no more than one. The first fate of a class is what is left
// of it, so it needs no unknown.
type chooser struct {
	m     *model
	fates []fate
	of    [][]int // per class: its fates
	at    []int   // per fate: its variable, -1 for the first of a class
	p     *integerProgram
}

// choose returns how many nodes meet each fate, or false where there is no way, or where the deadline has passed.
func (m *model) choose(fates []fate, w *deadline) ([]int, bool) {
	s := &chooser{m: m, fates: fates, of: make([][]int, len(m.classes)), at: make([]int, len(fates))}
	var tops []int
	for i, f := range fates {
		s.at[i] = -1
		if f.class >= 0 {
			if s.of[f.class] = append(s.of[f.class], i); len(s.of[f.class]) == 1 {
				continue
			}
		}
		s.at[i] = len(tops)
		if f.class < 0 {
			tops = append(tops, m.mostNew())
		} else {
			tops = append(tops, len(m.classes[f.class].nodes))
		}
	}
	s.p = newIntegerProgram(w, tops)
	if !s.constrain() || !s.settle() || w.ended {
		return nil, false
	}
	return s.counts(), true
}

// mostNew is more new nodes than any sensible answer has.
func (m *model) mostNew() int {
	n := max(len(m.standing), m.low)
	for _, u := range m.units {
		n += u.min
	}
	return min(m.high, 2*(n+10)*max(1, len(m.zones)))
}

// constrain states all constraints that reach over more than one node.
func (s *chooser) constrain() bool {
	ok := true
	keep := func(f func(*fate) float64, lo, hi float64) {
		ok = ok && s.p.keep(s.weigh(f), lo, hi)
	}
	for at, fates := range s.of {
		if len(fates) == 0 {
			return false
		}
		if len(fates) > 2 {
			keep(func(f *fate) float64 { return oneIf(f.class == at && f != &s.fates[fates[0]]) }, 0,
				float64(len(s.m.classes[at].nodes)))
		}
	}
	limits := s.m.t.Constraints
	keep(stands, float64(s.m.low), limit(s.m.high))
	for u, b := range s.m.units {
		keep(func(f *fate) float64 { return oneIf(f.has(u)) }, float64(b.min), limit(b.max))
	}
	for _, ratio := range limits.Ratios {
		a, asked := s.m.unitOf[ratio.Service]
		b, of := s.m.unitOf[ratio.Of]
		if asked && of {
			keep(func(f *fate) float64 { return float64(max(1, ratio.Per))*oneIf(f.has(a)) - oneIf(f.has(b)) }, 0, math.Inf(1))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(limits.Hardware)) {
		keep(func(f *fate) float64 { return oneIf(!f.gone && f.on.hardware == name) }, 0, limit(limits.Hardware[name]))
	}
	if limits.Zones != nil {
		s.spread(limits.Zones, keep)
	}
	return ok
}

// spread states that no two zones have too different numbers of nodes.
func (s *chooser) spread(rule *template.ZoneRule, keep func(f func(*fate) float64, lo, hi float64)) {
	skew := float64(max(1, rule.MaxSkew))
	even := func(counts func(*fate) bool) {
		for i, a := range s.m.zones {
			for _, b := range s.m.zones[:i] {
				keep(func(f *fate) float64 {
					if f.gone || !counts(f) {
						return 0
					}
					return oneIf(f.zone == a) - oneIf(f.zone == b)
				}, -skew, skew)
			}
		}
	}
	if len(rule.Services) == 0 {
		even(func(*fate) bool { return true })
	}
	for _, name := range rule.Services {
		if u, ok := s.m.unitOf[name]; ok {
			even(func(f *fate) bool { return f.has(u) })
		} else if s.m.onCluster(name) {
			even(func(*fate) bool { return true })
		}
	}
}

func (f *fate) has(u int) bool { return !f.gone && f.units.Has(u) }

func stands(f *fate) float64 { return oneIf(!f.gone) }

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func intIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func limit(n int) float64 {
	if n >= template.Unlimited {
		return math.Inf(1)
	}
	return float64(n)
}

// weigh adds up over all nodes what each fate counts for.
func (s *chooser) weigh(f func(*fate) float64) weighed {
	var sum weighed
	usual := make([]float64, len(s.of))
	for i, fates := range s.of {
		if len(fates) > 0 {
			usual[i] = f(&s.fates[fates[0]])
			sum.always += usual[i] * float64(len(s.m.classes[i].nodes))
		}
	}
	for i := range s.fates {
		if s.at[i] < 0 {
			continue
		}
		v := f(&s.fates[i])
		if c := s.fates[i].class; c >= 0 {
			v -= usual[c]
		}
		if v != 0 {
			sum.at, sum.by = append(sum.at, s.at[i]), append(sum.by, v)
		}
	}
	return sum
}

// settle asks one question after the other, each among the answers to those before.
func (s *chooser) settle() bool {
	first := func(f func(*fate) float64) bool {
		sum := s.weigh(f)
		if !s.p.least(sum, false) {
			return false
		}
		s.p.pin(sum, 0)
		return true
	}
	if s.m.low != s.m.high && !first(stands) ||
		!first(func(f *fate) float64 { return oneIf(f.touched) }) ||
		!first(func(f *fate) float64 { return oneIf(f.class < 0) }) ||
		!first(func(f *fate) float64 { return float64(f.odd) }) {
		return false
	}
	switch s.m.r.Prefer {
	case template.PreferCheapest:
		cost := s.weigh(func(f *fate) float64 { return oneIf(!f.gone) * f.on.cost })
		s.p.least(cost, true)
		s.p.pin(cost, 1e-7)
	case template.PreferSpread:
		s.level()
	}
	s.pack()
	s.byNumber()
	return true
}

// level has as few nodes as can be with the most services, then with one less, and so on.
func (s *chooser) level() {
	most := 0
	for i := range s.fates {
		most = max(most, len(s.fates[i].services))
	}
	for n := most; n > 0 && !s.p.over(); n-- {
		sum := s.weigh(func(f *fate) float64 { return oneIf(!f.gone && len(f.services) == n) })
		s.p.least(sum, false)
		s.p.pin(sum, 0)
	}
}

// pack has as many nodes as can be of the most preferred kind, then of the next, and so on. Several kinds are asked for
// at once, weighed so that all later ones together count for less than one node of an earlier one.
func (s *chooser) pack() {
	s.p.least(s.weigh(func(f *fate) float64 { return -float64(len(f.services)) }), false) // a start close to the end
	kinds := s.kinds()
	const together = 1e6
	var batch []weighed
	var ranges []float64
	product := 1.0
	flush := func() {
		if len(batch) > 0 {
			s.p.least(ahead(batch, ranges), false)
		}
		for _, sum := range batch {
			s.p.pin(sum, 0)
		}
		batch, ranges, product = nil, nil, 1
	}
	for _, sum := range kinds {
		if s.p.over() {
			return
		}
		width := s.p.width(sum)
		if width == 0 {
			continue
		}
		if product*(width+1) > together {
			flush()
			width = s.p.width(sum)
		}
		if len(batch) == 0 && s.p.atMost(sum) {
			continue
		}
		batch, ranges = append(batch, sum), append(ranges, width)
		product *= width + 1
	}
	flush()
}

// kinds returns the number of nodes of each kind, in order of preference.
func (s *chooser) kinds() []weighed {
	top := -1
	for _, f := range s.fates {
		top = max(top, f.kind)
	}
	sums := make([]weighed, top+1)
	note := func(kind, at int, by float64) {
		sum := &sums[kind]
		if last := len(sum.at) - 1; last >= 0 && sum.at[last] == at {
			sum.by[last] += by
			return
		}
		sum.at, sum.by = append(sum.at, at), append(sum.by, by)
	}
	for i, f := range s.fates {
		if s.at[i] < 0 {
			if !f.gone {
				sums[f.kind].always += float64(len(s.m.classes[f.class].nodes))
			}
			continue
		}
		if f.class >= 0 {
			if usual := s.fates[s.of[f.class][0]]; !usual.gone {
				note(usual.kind, s.at[i], -1)
			}
		}
		if !f.gone {
			note(f.kind, s.at[i], 1)
		}
	}
	return sums
}

// ahead weighs sums so that the first counts for more than all others can.
func ahead(batch []weighed, ranges []float64) weighed {
	var out weighed
	place := map[int]int{}
	weight := 1.0
	for i := len(batch) - 1; i >= 0; i-- {
		for k, at := range batch[i].at {
			j, known := place[at]
			if !known {
				j = len(out.at)
				place[at] = j
				out.at, out.by = append(out.at, at), append(out.by, 0)
			}
			out.by[j] -= weight * batch[i].by[k]
		}
		weight *= ranges[i] + 1
	}
	return out
}

// width is how much the bounds of its variables let s vary.
func (p *integerProgram) width(s weighed) float64 {
	w := 0.0
	for i, at := range s.at {
		w += math.Abs(s.by[i]) * (p.hi[at] - p.lo[at])
	}
	return w
}

// atMost reports whether s cannot be more than the best answer has it, and if so, fixes it there.
func (p *integerProgram) atMost(s weighed) bool {
	for i, at := range s.at {
		end := p.hi[at]
		if s.by[i] < 0 {
			end = p.lo[at]
		}
		if s.by[i] != 0 && float64(p.best[at]) != end {
			return false
		}
	}
	for i, at := range s.at {
		if s.by[i] != 0 {
			p.lo[at], p.hi[at] = float64(p.best[at]), float64(p.best[at])
		}
	}
	return true
}

// byNumber settles what is still open: nodes of low numbers are changed, nodes of high numbers go.
func (s *chooser) byNumber() {
	n := len(s.m.standing)
	s.p.least(s.weigh(func(f *fate) float64 {
		switch {
		case f.class < 0:
			for i, z := range s.m.zones {
				if z == f.zone {
					return float64(i)
				}
			}
			return 0
		case f.gone:
			nodes := s.m.classes[f.class].nodes
			return float64(n - nodes[len(nodes)-1])
		case f.touched:
			return float64(s.m.classes[f.class].nodes[0])
		}
		return 0
	}), false)
}

// counts returns the answer, per fate.
func (s *chooser) counts() []int {
	out := make([]int, len(s.fates))
	for at, fates := range s.of {
		left := len(s.m.classes[at].nodes)
		for _, i := range fates[1:] {
			out[i] = s.p.best[s.at[i]]
			left -= out[i]
		}
		out[fates[0]] = left
	}
	for i, f := range s.fates {
		if f.class < 0 {
			out[i] = s.p.best[s.at[i]]
		}
	}
	return out
}

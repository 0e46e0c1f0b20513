package solver

import "math/bits"

// set is a bit set over block numbers. All sets of one problem have the same length.
type set []uint64

func wordsFor(n int) int { return (n + 63) / 64 }

func newSet(words int) set { return make(set, words) }

func (s set) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s set) del(i int)      { s[i>>6] &^= 1 << (i & 63) }

func (s set) clone() set { return append(set(nil), s...) }

func (s set) copyFrom(t set) { copy(s, t) }

func (s set) clear() {
	for i := range s {
		s[i] = 0
	}
}

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s set) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// next gives the smallest member that is at least i, or -1.
func (s set) next(i int) int {
	w := i >> 6
	if w >= len(s) {
		return -1
	}
	if x := s[w] >> (i & 63); x != 0 {
		return i + bits.TrailingZeros64(x)
	}
	for w++; w < len(s); w++ {
		if s[w] != 0 {
			return w<<6 + bits.TrailingZeros64(s[w])
		}
	}
	return -1
}

func (s set) intersect(t set) {
	for i := range s {
		s[i] &= t[i]
	}
}

func (s set) remove(t set) {
	for i := range s {
		s[i] &^= t[i]
	}
}

func (s set) union(t set) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s set) intersects(t set) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

func (s set) subsetOf(t set) bool {
	for i := range s {
		if s[i]&^t[i] != 0 {
			return false
		}
	}
	return true
}

func (s set) equal(t set) bool {
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// within2 tells whether s is inside the union of t and u.
func (s set) within2(t, u set) bool {
	for i := range s {
		if s[i]&^(t[i]|u[i]) != 0 {
			return false
		}
	}
	return true
}

// within tells whether the members of s that are also in t are all in u.
func (s set) within(t, u set) bool {
	for i := range s {
		if s[i]&t[i]&^u[i] != 0 {
			return false
		}
	}
	return true
}

// common gives the number of members in both, counting no further than limit.
func (s set) common(t set, limit int) int {
	n := 0
	for i := range s {
		if n += bits.OnesCount64(s[i] & t[i]); n >= limit {
			return limit
		}
	}
	return n
}

// firstCommon gives the smallest member of both, or -1.
func (s set) firstCommon(t set) int {
	for i := range s {
		if x := s[i] & t[i]; x != 0 {
			return i<<6 + bits.TrailingZeros64(x)
		}
	}
	return -1
}

func popcount(w uint64) int { return bits.OnesCount64(w) }

func lowest(w uint64) int { return bits.TrailingZeros64(w) }

// pool hands out sets for one recursion level and takes them back, so that the searches do not feed the collector.
type pool struct {
	words int
	free  []set
}

func (p *pool) get() set {
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		s.clear()
		return s
	}
	return newSet(p.words)
}

func (p *pool) copy(t set) set {
	s := p.get()
	s.copyFrom(t)
	return s
}

func (p *pool) put(ss ...set) { p.free = append(p.free, ss...) }

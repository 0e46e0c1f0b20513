package bitset

import "math/bits"

// Set is a bit set over small numbers. All sets of one problem have the same length.
type Set []uint64

// Words returns how many words a set over n numbers has.
func Words(n int) int { return (n + 63) / 64 }

// New returns an empty set of so many words.
func New(words int) Set { return make(Set, words) }

// Has reports whether i is a member.
func (s Set) Has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// Add makes i a member.
func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

// Del takes i out.
func (s Set) Del(i int) { s[i>>6] &^= 1 << (i & 63) }

// Clone returns a copy of s.
func (s Set) Clone() Set { return append(Set(nil), s...) }

// CopyFrom makes s the same as t.
func (s Set) CopyFrom(t Set) { copy(s, t) }

// Clear takes all members out of s.
func (s Set) Clear() {
	for i := range s {
		s[i] = 0
	}
}

// Empty reports whether s has no members.
func (s Set) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Count returns the number of members.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the smallest member that is at least i, or -1.
func (s Set) Next(i int) int {
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

// Intersect takes out of s what is not in t.
func (s Set) Intersect(t Set) {
	for i := range s {
		s[i] &= t[i]
	}
}

// Remove takes out of s what is in t.
func (s Set) Remove(t Set) {
	for i := range s {
		s[i] &^= t[i]
	}
}

// Union adds to s what is in t.
func (s Set) Union(t Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// Intersects reports whether s and t have a member in common.
func (s Set) Intersects(t Set) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// SubsetOf reports whether all members of s are in t.
func (s Set) SubsetOf(t Set) bool {
	for i := range s {
		if s[i]&^t[i] != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether s and t have the same members.
func (s Set) Equal(t Set) bool {
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// Within2 reports whether s is inside the union of t and u.
func (s Set) Within2(t, u Set) bool {
	for i := range s {
		if s[i]&^(t[i]|u[i]) != 0 {
			return false
		}
	}
	return true
}

// Within reports whether the members of s that are also in t are all in u.
func (s Set) Within(t, u Set) bool {
	for i := range s {
		if s[i]&t[i]&^u[i] != 0 {
			return false
		}
	}
	return true
}

// Common returns the number of members in both, counting no further than limit.
func (s Set) Common(t Set, limit int) int {
	n := 0
	for i := range s {
		if n += bits.OnesCount64(s[i] & t[i]); n >= limit {
			return limit
		}
	}
	return n
}

// FirstCommon returns the smallest member of both, or -1.
func (s Set) FirstCommon(t Set) int {
	for i := range s {
		if x := s[i] & t[i]; x != 0 {
			return i<<6 + bits.TrailingZeros64(x)
		}
	}
	return -1
}

// Pool hands out sets for one recursion level and takes them back, so that the searches do not feed the collector.
type Pool struct {
	Words int
	free  []Set
}

// Get returns an empty set.
func (p *Pool) Get() Set {
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		s.Clear()
		return s
	}
	return New(p.Words)
}

// Copy returns a copy of t.
func (p *Pool) Copy(t Set) Set {
	s := p.Get()
	s.CopyFrom(t)
	return s
}

// Put takes sets back; the caller must not use them any more.
func (p *Pool) Put(ss ...Set) { p.free = append(p.free, ss...) }

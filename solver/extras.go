package solver

import (
	"slices"

	"muster/solver/internal/bitset"
)

// extras are what a search for the heaviest set may have to heed besides the family. They cost it most of its
// reductions, so it has them only where they are needed.
type extras struct {
	bonuses []bonus
	cuts    []cut
	banned  []bitset.Set // sets that may not be the answer
}

// bonus is worth something where all its blocks are taken. worth may be negative.
type bonus struct {
	blocks bitset.Set
	worth  int64
}

// cut is a linear constraint: the weights of the blocks that are taken must add up to at least least.
type cut struct {
	weight []int64
	least  int64
	order  *byRoom // of weight
}

// possible reports whether the cuts can still be kept.
func (x *extras) possible(f *family, n *node) bool {
	for _, c := range x.cuts {
		sum := int64(0)
		for b := n.chosen.Next(0); b >= 0; b = n.chosen.Next(b + 1) {
			sum += c.weight[b]
		}
		left := c.least - sum
		for b := n.avail.Next(0); b >= 0 && left > 0; b = n.avail.Next(b + 1) {
			left -= max(0, c.weight[b])
		}
		if left > 0 || n.tight && c.order != nil && sum+c.order.bound(f, n, c.weight) < c.least {
			return false
		}
	}
	return true
}

func (x *extras) bonus(chosen bitset.Set) int64 {
	sum := int64(0)
	for _, b := range x.bonuses {
		if b.blocks.SubsetOf(chosen) {
			sum += b.worth
		}
	}
	return sum
}

// bound is how much the bonuses can still give at most.
func (x *extras) bound(n *node) int64 {
	sum := int64(0)
	for _, b := range x.bonuses {
		if b.worth > 0 && b.blocks.Within2(n.chosen, n.avail) || b.worth < 0 && b.blocks.SubsetOf(n.chosen) {
			sum += b.worth
		}
	}
	return sum
}

func (x *extras) final(chosen bitset.Set) bool {
	for _, c := range x.cuts {
		sum := int64(0)
		for b := chosen.Next(0); b >= 0; b = chosen.Next(b + 1) {
			sum += c.weight[b]
		}
		if sum < c.least {
			return false
		}
	}
	for _, b := range x.banned {
		if b.Equal(chosen) {
			return false
		}
	}
	return true
}

// cares reports whether it matters to the extras, beside the cuts, which of b and its neighbours is taken.
func (x *extras) cares(b int, near, chosen bitset.Set) bool {
	for _, o := range x.banned {
		if o.Has(b) && chosen.SubsetOf(o) {
			return true
		}
	}
	for _, o := range x.bonuses {
		if o.blocks.Has(b) || o.blocks.Intersects(near) {
			return true
		}
	}
	return false
}

// near reports whether what is chosen may still become a set that may not be the answer, so that one more block, whatever it
// is worth, may make it another one.
func (x *extras) near(chosen bitset.Set) bool {
	return slices.ContainsFunc(x.banned, func(o bitset.Set) bool { return chosen.SubsetOf(o) })
}

// outweighs reports whether b is as good for every cut as all of near.
func (x *extras) outweighs(b int, near bitset.Set) bool {
	for _, c := range x.cuts {
		sum := int64(0)
		for u := near.Next(0); u >= 0; u = near.Next(u + 1) {
			sum += max(0, c.weight[u])
		}
		if sum > c.weight[b] {
			return false
		}
	}
	return true
}

// atLeast reports whether b is as good for every cut as u.
func (x *extras) atLeast(b, u int) bool {
	return !slices.ContainsFunc(x.cuts, func(c cut) bool { return c.weight[b] < c.weight[u] })
}

// welcome reports whether to take b, which is in no one's way, can do no harm.
func (x *extras) welcome(b int, chosen bitset.Set) bool {
	for _, c := range x.cuts {
		if c.weight[b] < 0 {
			return false
		}
	}
	for _, o := range x.bonuses {
		if o.worth < 0 && o.blocks.Has(b) {
			return false
		}
	}
	for _, o := range x.banned {
		if o.Has(b) && chosen.SubsetOf(o) {
			return false
		}
	}
	return true
}

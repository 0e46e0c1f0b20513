package solver

import (
	"math"
	"slices"

	"muster/solver/internal/bitset"
)

// state is what is left to do: n nodes to make, of which each block needs some and can still use some.
type state struct {
	n    int
	need []int
	room []int
}

// counter turns kinds into counts: the lexicographically greatest vector of counts over kinds in order of preference.
type counter struct {
	p      *problem
	f      *family
	w      *watch
	finder *finder
	oracle *oracle
	state
}

func newCounter(p *problem, w *watch) *counter {
	f := newFamily(p, nil)
	c := &counter{p: p, f: f, w: w, finder: newFinder(p, f, w), oracle: newOracle(f, w)}
	c.n = p.size
	for i, b := range p.blocks {
		room := 0
		if f.usable.Has(i) {
			room = b.max
		}
		c.need = append(c.need, b.min)
		c.room = append(c.room, room)
	}
	return c
}

// total is how many places all blocks can use together.
func (c *counter) total() int {
	sum := 0
	for _, r := range c.room {
		sum += r
	}
	return sum
}

// widest is how many blocks the next node may have at most, so that every node after it can have at least one. Where
// some service goes everywhere no node is ever empty, and there is no such limit.
func (c *counter) widest() int {
	if len(c.p.everywhere) > 0 {
		return math.MaxInt
	}
	return c.total() - c.n + 1
}

// most is the greatest number of nodes of kind k after which the rest can still be made, at least 1.
func (c *counter) most(k kind) int {
	high := c.n
	blocks := 0
	for b := k.blocks.Next(0); b >= 0; b = k.blocks.Next(b + 1) {
		high = min(high, c.room[b])
		blocks++
	}
	if len(c.p.everywhere) == 0 && blocks > 1 {
		high = min(high, (c.total()-c.n)/(blocks-1))
	}
	if ok, _ := c.after(k, high); ok {
		return high
	}
	low := 1 // possible, since the kind was chosen so; high is not
	for low+1 < high && !c.w.ended {
		mid := (low + high) / 2
		if ok, _ := c.after(k, mid); ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// after reports whether the needs that are left after count nodes of kind k can be met with the nodes that are left.
func (c *counter) after(k kind, count int) (bool, bitset.Set) {
	need := make([]int, len(c.need))
	for b, v := range c.need {
		if k.blocks.Has(b) {
			v -= count
		}
		need[b] = max(0, v)
	}
	return c.oracle.coverable(need, c.n-count)
}

// next returns the most preferred kind of which a layout of what is left can have a node. There is one as long as what is
// left can be made at all.
func (c *counter) next() (kind, bool) {
	open := bitset.New(c.f.words)
	for b, r := range c.room {
		if r > 0 {
			open.Add(b)
		}
	}
	judge := c.fits
	if loose, _ := c.oracle.coverable(c.need, c.n-1); loose { // then a node can be anything
		c.finder.s.clauses = nil
		judge = func(bitset.Set) bool { return true }
	}
	c.finder.s.clauses = slices.DeleteFunc(c.finder.s.clauses, func(clause bitset.Set) bool { return !c.holds(clause) })
	k, found := c.finder.preferred(choice{open, c.widest(), judge})
	if !found && len(c.finder.s.clauses) == 0 && len(c.p.everywhere) > 0 {
		first := c.f.palettes[0]
		return kind{blocks: bitset.New(c.f.words), hardware: first.hardware, image: first.image}, true
	}
	return k, found
}

// fits reports whether the rest can be made after a node with these blocks. Where it cannot, the blocks of the core that
// the node lacks make a clause, since any node with none of them would fail in the same way. As the argument needs
// no more than that a node lacks them, it continues as if the node had those too, to learn more than one clause.
func (c *counter) fits(blocks bitset.Set) bool {
	k := kind{blocks: blocks}
	ok, core := c.after(k, 1)
	if ok {
		return true
	}
	k.blocks = blocks.Clone()
	for !ok && !c.w.ended {
		clause := core.Clone()
		clause.Remove(k.blocks)
		if clause.Empty() {
			break
		}
		clause = c.sharpen(core, k.blocks, clause)
		c.finder.s.clauses = append(c.finder.s.clauses, clause)
		k.blocks.Union(clause)
		ok, core = c.after(k, 1)
	}
	return false
}

// sharpen leaves out of a clause what it can do without: a block that could be on the node, and still the rest of the
// core would prove that something is missing.
func (c *counter) sharpen(core, had, clause bitset.Set) bitset.Set {
	need := make([]int, len(c.need))
	for b := core.Next(0); b >= 0; b = core.Next(b + 1) {
		need[b] = c.need[b]
		if had.Has(b) {
			need[b]--
		}
	}
	for b := clause.Next(0); b >= 0 && clause.Count() > 1; b = clause.Next(b + 1) {
		need[b]--
		if ok, _ := c.oracle.coverable(need, c.n-1); ok {
			need[b]++
			continue
		}
		clause.Del(b)
	}
	return clause
}

// holds reports whether a clause of an earlier state is true now: a node that lacks all of it cannot be next, whatever
// else it has.
func (c *counter) holds(clause bitset.Set) bool {
	rest := bitset.New(c.f.words)
	for b := range c.f.blocks {
		rest.Add(b)
	}
	rest.Remove(clause)
	ok, _ := c.after(kind{blocks: rest}, 1)
	return !ok
}

// use takes count nodes of kind k off what is left.
func (c *counter) use(k kind, count int) {
	c.n -= count
	for b := k.blocks.Next(0); b >= 0; b = k.blocks.Next(b + 1) {
		c.need[b] = max(0, c.need[b]-count)
		c.room[b] -= count
	}
}

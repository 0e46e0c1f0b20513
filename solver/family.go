package solver

import (
	"math/bits"
	"slices"

	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
)

// family says which sets of blocks may share a node. It is closed downwards: what may share a node with company may
// also do so without. Three things forbid company: a pair that can't coexist, a larger group that can't be complete,
// and having no palette in common that is large enough.
type family struct {
	blocks   int
	words    int
	usable   bitset.Set   // blocks that can be on some node at all
	adj      []bitset.Set // per block: those it can never share a node with
	groups   []bitset.Set // three or more blocks, no two of them adj, never all on one node
	groupsOf [][]int      // per block: indexes into groups
	palettes []palette    // in order of preference
	palsOf   []bitset.Set // per block: indexes into palettes
	needs    []load.Load  // per block
	heavy    bool         // whether some hardware could be too small for the blocks that accept it
}

// palette is a hardware and image type, with the blocks that accept both. A palette whose blocks all fit an earlier one
// and that is no larger is left out, since no kind of node would ever choose it.
type palette struct {
	hardware, image int
	class           int // of hosts, where there is a pool
	blocks          bitset.Set
	room            load.Load // what the services that go everywhere leave
}

// newFamily states what may share a node. worse tells that a palette is never chosen because of another; where it is nil
// that is so for those whose blocks all fit an earlier one.
func newFamily(p *problem, worse func(x, o palette) bool) *family {
	n := len(p.blocks)
	f := &family{blocks: n, words: max(1, bitset.Words(n)), groupsOf: make([][]int, n)}
	f.usable = bitset.New(f.words)
	for i, b := range p.blocks {
		f.adj = append(f.adj, bitset.New(f.words))
		f.needs = append(f.needs, b.needs)
		if !b.cant && b.max > 0 && len(b.hardware) > 0 && len(b.images) > 0 {
			f.usable.Add(i)
		}
	}
	switch {
	case worse == nil:
		f.takePalettes(p)
	case p.pool != nil:
		f.takeHostedPalettes(p)
	default:
		f.takeAllPalettes(p, worse)
	}
	f.takeTypes()
	for b := range f.palsOf {
		if f.palsOf[b].Empty() {
			f.usable.Del(b)
		}
	}
	f.takeCant(p.cant)
	return f
}

// typed is one hardware or image type with the blocks that accept it.
type typed struct {
	index  int
	blocks bitset.Set
	room   load.Load
}

// typesInUse returns the types in order of name, without those that would never be chosen because an earlier one is
// accepted by the same blocks and perhaps more.
func (f *family) typesInUse(types int, room func(t int) load.Load, accepts func(block int) []int) []typed {
	all := make([]typed, types)
	for i := range all {
		all[i] = typed{i, bitset.New(f.words), room(i)}
	}
	for b := 0; b < f.blocks; b++ {
		if f.usable.Has(b) {
			for _, i := range accepts(b) {
				all[i].blocks.Add(b)
			}
		}
	}
	var out []typed
	for _, t := range all {
		for b := t.blocks.Next(0); b >= 0; b = t.blocks.Next(b + 1) {
			if !f.needs[b].Within(t.room) {
				t.blocks.Del(b)
			}
		}
		if !(load.Load{}).Within(t.room) {
			continue
		}
		if !slices.ContainsFunc(out, func(o typed) bool { return t.blocks.SubsetOf(o.blocks) && t.room.Within(o.room) }) {
			out = append(out, t)
		}
	}
	return out
}

func (f *family) takePalettes(p *problem) {
	hardware := f.typesInUse(len(p.hardware), func(h int) load.Load { return p.offers[h].Minus(p.base) }, func(b int) []int { return p.blocks[b].hardware })
	images := f.typesInUse(len(p.images), func(int) load.Load { return load.Boundless }, func(b int) []int { return p.blocks[b].images })
	for _, h := range hardware {
		for _, i := range images {
			both := h.blocks.Clone()
			both.Intersect(i.blocks)
			if !slices.ContainsFunc(f.palettes, func(o palette) bool {
				return both.SubsetOf(o.blocks) && h.room.Within(o.room)
			}) {
				f.palettes = append(f.palettes, palette{hardware: h.index, image: i.index, blocks: both, room: h.room})
				f.heavy = f.heavy || !f.sum(both).Within(h.room)
			}
		}
	}
}

// takeAllPalettes takes every pair of types, save those that are worse than another.
func (f *family) takeAllPalettes(p *problem, worse func(x, o palette) bool) {
	var all []palette
	for h := range p.hardware {
		for i := range p.images {
			x := palette{hardware: h, image: i, blocks: bitset.New(f.words), room: p.offers[h].Minus(p.base)}
			for b, block := range p.blocks {
				if f.usable.Has(b) && slices.Contains(block.hardware, h) && slices.Contains(block.images, i) && block.needs.Within(x.room) {
					x.blocks.Add(b)
				}
			}
			if (load.Load{}).Within(x.room) {
				all = append(all, x)
			}
		}
	}
	for _, x := range all {
		if !slices.ContainsFunc(all, func(o palette) bool { return worse(x, o) }) {
			f.palettes = append(f.palettes, x)
			f.heavy = f.heavy || !f.sum(x.blocks).Within(x.room)
		}
	}
}

// takeTypes parts the blocks that no palette has together.
func (f *family) takeTypes() {
	f.palsOf = make([]bitset.Set, f.blocks)
	for b := range f.palsOf {
		f.palsOf[b] = bitset.New(bitset.Words(len(f.palettes)))
		for i, pal := range f.palettes {
			if pal.blocks.Has(b) {
				f.palsOf[b].Add(i)
			}
		}
	}
	for a := f.usable.Next(0); a >= 0; a = f.usable.Next(a + 1) {
		for b := f.usable.Next(a + 1); b >= 0; b = f.usable.Next(b + 1) {
			if !f.fitsOne(f.palsOf[a], f.palsOf[b], f.needs[a].Plus(f.needs[b])) {
				f.part(a, b)
			}
		}
	}
}

func (f *family) part(a, b int) {
	f.adj[a].Add(b)
	f.adj[b].Add(a)
}

// takeCant turns the pairs into adj and keeps those larger groups that still say something.
func (f *family) takeCant(cant [][]int) {
	for _, g := range cant {
		if len(g) == 2 {
			f.part(g[0], g[1])
		}
	}
	var larger []bitset.Set
	for _, g := range cant {
		s := bitset.New(f.words)
		for _, b := range g {
			s.Add(b)
		}
		if len(g) > 2 && s.SubsetOf(f.usable) && !f.split(s) {
			larger = append(larger, s)
		}
	}
	slices.SortStableFunc(larger, func(a, b bitset.Set) int { return a.Count() - b.Count() })
	for _, s := range larger {
		if slices.ContainsFunc(f.groups, func(o bitset.Set) bool { return o.SubsetOf(s) }) {
			continue
		}
		for b := s.Next(0); b >= 0; b = s.Next(b + 1) {
			f.groupsOf[b] = append(f.groupsOf[b], len(f.groups))
		}
		f.groups = append(f.groups, s)
	}
}

// split reports whether two of the blocks are adj, so that they are never together anyway.
func (f *family) split(s bitset.Set) bool {
	for b := s.Next(0); b >= 0; b = s.Next(b + 1) {
		if f.adj[b].Intersects(s) {
			return true
		}
	}
	return false
}

// joins reports whether block b may join the blocks of s, which share the palettes pals.
func (f *family) joins(s, pals bitset.Set, b int) bool {
	if f.adj[b].Intersects(s) || !f.palsOf[b].Intersects(pals) {
		return false
	}
	if f.heavy && !f.fitsOne(f.palsOf[b], pals, f.sum(s).Plus(f.needs[b])) {
		return false
	}
	for _, g := range f.groupsOf[b] {
		missing := 0
		for i, w := range f.groups[g] {
			if w &^= s[i]; w != 0 {
				if missing += bits.OnesCount64(w); missing > 1 {
					break
				}
			}
		}
		if missing <= 1 { // only b itself
			return false
		}
	}
	return true
}

// onePalette reports whether some palette has all the blocks of s, and room for them, so that types forbid nothing among
// them.
func (f *family) onePalette(s bitset.Set) bool {
	sum := load.Load{}
	if f.heavy {
		sum = f.sum(s)
	}
	return slices.ContainsFunc(f.palettes, func(p palette) bool { return s.SubsetOf(p.blocks) && sum.Within(p.room) })
}

// fitsOne reports whether a palette of both sets has so much room.
func (f *family) fitsOne(pals, others bitset.Set, sum load.Load) bool {
	for i := range pals {
		for w := pals[i] & others[i]; w != 0; w &= w - 1 {
			if sum.Within(f.palettes[i<<6+bits.TrailingZeros64(w)].room) {
				return true
			}
		}
	}
	return false
}

// sum is what the blocks of s take together.
func (f *family) sum(s bitset.Set) load.Load {
	var l load.Load
	for b := s.Next(0); b >= 0; b = s.Next(b + 1) {
		l = l.Plus(f.needs[b])
	}
	return l
}

// indifferent reports whether block b goes with every palette and takes nothing of a node.
func (f *family) indifferent(b int) bool {
	return f.palsOf[b].Count() == len(f.palettes) && (!f.heavy || f.needs[b].Free())
}

package solver

import "slices"

// family says which sets of blocks may share a node. It is closed downwards: what may share a node with company may
// also do so without. Three things forbid company: a pair that can't coexist, a larger group that can't be complete,
// and having no palette in common that is large enough.
type family struct {
	blocks   int
	words    int
	usable   set       // blocks that can be on some node at all
	adj      []set     // per block: those it can never share a node with
	groups   []set     // three or more blocks, no two of them adj, never all on one node
	groupsOf [][]int   // per block: indexes into groups
	palettes []palette // in order of preference
	palsOf   []set     // per block: indexes into palettes
	needs    []load    // per block
	heavy    bool      // whether some hardware could be too small for the blocks that accept it
}

// palette is a hardware and image type, with the blocks that accept both. A palette whose blocks all fit an earlier one
// and that is no larger is left out, since no kind of node would ever choose it.
type palette struct {
	hardware, image int
	class           int // of hosts, where there is a pool
	blocks          set
	room            load // what the services that go everywhere leave
}

// newFamily states what may share a node. worse tells that a palette is never chosen because of another; where it is nil
// that is so for those whose blocks all fit an earlier one.
func newFamily(p *problem, worse func(x, o palette) bool) *family {
	n := len(p.blocks)
	f := &family{blocks: n, words: max(1, wordsFor(n)), groupsOf: make([][]int, n)}
	f.usable = newSet(f.words)
	for i, b := range p.blocks {
		f.adj = append(f.adj, newSet(f.words))
		f.needs = append(f.needs, b.needs)
		if !b.cant && b.max > 0 && len(b.hardware) > 0 && len(b.images) > 0 {
			f.usable.add(i)
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
		if f.palsOf[b].empty() {
			f.usable.del(b)
		}
	}
	f.takeCant(p.cant)
	return f
}

// typed is one hardware or image type with the blocks that accept it.
type typed struct {
	index  int
	blocks set
	room   load
}

// typesInUse gives the types in order of name, without those that would never be chosen because an earlier one is
// accepted by the same blocks and perhaps more.
func (f *family) typesInUse(types int, room func(t int) load, accepts func(block int) []int) []typed {
	all := make([]typed, types)
	for i := range all {
		all[i] = typed{i, newSet(f.words), room(i)}
	}
	for b := 0; b < f.blocks; b++ {
		if f.usable.has(b) {
			for _, i := range accepts(b) {
				all[i].blocks.add(b)
			}
		}
	}
	var out []typed
	for _, t := range all {
		for b := t.blocks.next(0); b >= 0; b = t.blocks.next(b + 1) {
			if !f.needs[b].within(t.room) {
				t.blocks.del(b)
			}
		}
		if !(load{}).within(t.room) {
			continue
		}
		if !slices.ContainsFunc(out, func(o typed) bool { return t.blocks.subsetOf(o.blocks) && t.room.within(o.room) }) {
			out = append(out, t)
		}
	}
	return out
}

func (f *family) takePalettes(p *problem) {
	hardware := f.typesInUse(len(p.hardware), func(h int) load { return p.offers[h].minus(p.base) }, func(b int) []int { return p.blocks[b].hardware })
	images := f.typesInUse(len(p.images), func(int) load { return boundless }, func(b int) []int { return p.blocks[b].images })
	for _, h := range hardware {
		for _, i := range images {
			both := h.blocks.clone()
			both.intersect(i.blocks)
			if !slices.ContainsFunc(f.palettes, func(o palette) bool {
				return both.subsetOf(o.blocks) && h.room.within(o.room)
			}) {
				f.palettes = append(f.palettes, palette{hardware: h.index, image: i.index, blocks: both, room: h.room})
				f.heavy = f.heavy || !f.sum(both).within(h.room)
			}
		}
	}
}

// takeAllPalettes takes every pair of types, save those that are worse than another.
func (f *family) takeAllPalettes(p *problem, worse func(x, o palette) bool) {
	var all []palette
	for h := range p.hardware {
		for i := range p.images {
			x := palette{hardware: h, image: i, blocks: newSet(f.words), room: p.offers[h].minus(p.base)}
			for b, block := range p.blocks {
				if f.usable.has(b) && slices.Contains(block.hardware, h) && slices.Contains(block.images, i) && block.needs.within(x.room) {
					x.blocks.add(b)
				}
			}
			if (load{}).within(x.room) {
				all = append(all, x)
			}
		}
	}
	for _, x := range all {
		if !slices.ContainsFunc(all, func(o palette) bool { return worse(x, o) }) {
			f.palettes = append(f.palettes, x)
			f.heavy = f.heavy || !f.sum(x.blocks).within(x.room)
		}
	}
}

// takeTypes parts the blocks that no palette has together.
func (f *family) takeTypes() {
	f.palsOf = make([]set, f.blocks)
	for b := range f.palsOf {
		f.palsOf[b] = newSet(wordsFor(len(f.palettes)))
		for i, pal := range f.palettes {
			if pal.blocks.has(b) {
				f.palsOf[b].add(i)
			}
		}
	}
	for a := f.usable.next(0); a >= 0; a = f.usable.next(a + 1) {
		for b := f.usable.next(a + 1); b >= 0; b = f.usable.next(b + 1) {
			if !f.fitsOne(f.palsOf[a], f.palsOf[b], f.needs[a].plus(f.needs[b])) {
				f.part(a, b)
			}
		}
	}
}

func (f *family) part(a, b int) {
	f.adj[a].add(b)
	f.adj[b].add(a)
}

// takeCant turns the pairs into adj and keeps those larger groups that still say something.
func (f *family) takeCant(cant [][]int) {
	for _, g := range cant {
		if len(g) == 2 {
			f.part(g[0], g[1])
		}
	}
	var larger []set
	for _, g := range cant {
		s := newSet(f.words)
		for _, b := range g {
			s.add(b)
		}
		if len(g) > 2 && s.subsetOf(f.usable) && !f.split(s) {
			larger = append(larger, s)
		}
	}
	slices.SortStableFunc(larger, func(a, b set) int { return a.count() - b.count() })
	for _, s := range larger {
		if slices.ContainsFunc(f.groups, func(o set) bool { return o.subsetOf(s) }) {
			continue
		}
		for b := s.next(0); b >= 0; b = s.next(b + 1) {
			f.groupsOf[b] = append(f.groupsOf[b], len(f.groups))
		}
		f.groups = append(f.groups, s)
	}
}

// split tells whether two of the blocks are adj, so that they are never together anyway.
func (f *family) split(s set) bool {
	for b := s.next(0); b >= 0; b = s.next(b + 1) {
		if f.adj[b].intersects(s) {
			return true
		}
	}
	return false
}

// joins tells whether block b may join the blocks of s, which share the palettes pals.
func (f *family) joins(s, pals set, b int) bool {
	if f.adj[b].intersects(s) || !f.palsOf[b].intersects(pals) {
		return false
	}
	if f.heavy && !f.fitsOne(f.palsOf[b], pals, f.sum(s).plus(f.needs[b])) {
		return false
	}
	for _, g := range f.groupsOf[b] {
		missing := 0
		for i, w := range f.groups[g] {
			if w &^= s[i]; w != 0 {
				if missing += popcount(w); missing > 1 {
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

// onePalette tells whether some palette has all the blocks of s, and room for them, so that types forbid nothing among
// them.
func (f *family) onePalette(s set) bool {
	sum := load{}
	if f.heavy {
		sum = f.sum(s)
	}
	return slices.ContainsFunc(f.palettes, func(p palette) bool { return s.subsetOf(p.blocks) && sum.within(p.room) })
}

// fitsOne tells whether a palette of both sets has so much room.
func (f *family) fitsOne(pals, others set, sum load) bool {
	for i := range pals {
		for w := pals[i] & others[i]; w != 0; w &= w - 1 {
			if sum.within(f.palettes[i<<6+lowest(w)].room) {
				return true
			}
		}
	}
	return false
}

// sum is what the blocks of s take together.
func (f *family) sum(s set) load {
	var l load
	for b := s.next(0); b >= 0; b = s.next(b + 1) {
		l = l.plus(f.needs[b])
	}
	return l
}

// indifferent tells whether block b goes with every palette and takes nothing of a node.
func (f *family) indifferent(b int) bool {
	return f.palsOf[b].count() == len(f.palettes) && (!f.heavy || f.needs[b].free())
}

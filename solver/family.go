package solver

import "slices"

// family says which sets of blocks may share a node. It is closed downwards: what may share a node with company may
// also do so without. Three things forbid company: a pair that can't coexist, a larger group that can't be complete,
// and having no palette in common.
type family struct {
	blocks   int
	words    int
	usable   set       // blocks that can be on some node at all
	adj      []set     // per block: those it can never share a node with
	groups   []set     // three or more blocks, no two of them adj, never all on one node
	groupsOf [][]int   // per block: indexes into groups
	palettes []palette // in order of preference
	palsOf   []set     // per block: indexes into palettes
}

// palette is a hardware and image type, with the blocks that accept both. A palette whose blocks all fit an earlier one
// is left out, since no kind of node would ever choose it.
type palette struct {
	hardware, image int
	blocks          set
}

func newFamily(p *problem) *family {
	n := len(p.blocks)
	f := &family{blocks: n, words: max(1, wordsFor(n)), groupsOf: make([][]int, n)}
	f.usable = newSet(f.words)
	for i, b := range p.blocks {
		f.adj = append(f.adj, newSet(f.words))
		if !b.cant && b.max > 0 && len(b.hardware) > 0 && len(b.images) > 0 {
			f.usable.add(i)
		}
	}
	f.takePalettes(p)
	f.takeCant(p.cant)
	return f
}

// typed is one hardware or image type with the blocks that accept it.
type typed struct {
	index  int
	blocks set
}

// typesInUse gives the types in order of name, without those that would never be chosen because an earlier one is
// accepted by the same blocks and perhaps more.
func (f *family) typesInUse(types int, accepts func(block int) []int) []typed {
	all := make([]typed, types)
	for i := range all {
		all[i] = typed{i, newSet(f.words)}
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
		if !slices.ContainsFunc(out, func(o typed) bool { return t.blocks.subsetOf(o.blocks) }) {
			out = append(out, t)
		}
	}
	return out
}

func (f *family) takePalettes(p *problem) {
	hardware := f.typesInUse(len(p.hardware), func(b int) []int { return p.blocks[b].hardware })
	images := f.typesInUse(len(p.images), func(b int) []int { return p.blocks[b].images })
	for _, h := range hardware {
		for _, i := range images {
			both := h.blocks.clone()
			both.intersect(i.blocks)
			if !slices.ContainsFunc(f.palettes, func(o palette) bool { return both.subsetOf(o.blocks) }) {
				f.palettes = append(f.palettes, palette{h.index, i.index, both})
			}
		}
	}
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
			if !f.palsOf[a].intersects(f.palsOf[b]) {
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

// onePalette tells whether some palette has all the blocks of s, so that types forbid nothing among them.
func (f *family) onePalette(s set) bool {
	return slices.ContainsFunc(f.palettes, func(p palette) bool { return s.subsetOf(p.blocks) })
}

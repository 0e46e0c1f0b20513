package solver

import (
	"encoding/binary"
	"slices"

	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
)

// mixer answers what counts.go cannot: questions in which less is not always possible too, since services are counted
// against each other (ratios), nodes against their hardware (limits), or layouts against their price or their fullest
// nodes. It sees a layout as a number of nodes of each variety under linear rows, and finds the best by branch and price
// (branch.go) over a linear program with column generation (simplex.go).
type mixer struct {
	p     *problem
	f     *family
	w     *watch
	s     *search // for varieties worth having
	rows  []row
	pool  []*variety
	known map[string]*variety
	kinds map[string]int // by types and blocks
	// single says that nodes with the same blocks have the same types; then no layout has two kinds with them.
	single  bool
	classed bool  // types have several palettes, one for each class of hosts
	typesOf []int // per palette: the number of its pair of types
	costs   []int64
	most    int64 // services on a node
	turn    int   // the palette at which the next search for varieties begins
	warm    *simplex
	unsure  bool // a program could not be solved although there was time
}

// variety is a kind of node: blocks on a palette. size counts its services, also those that go everywhere.
type variety struct {
	blocks bitset.Set
	pal    int
	kind   int // those with the same blocks and types have the same, also where their hosts are of different classes
	size   int64
	coef   []float64 // per row
}

// row is a linear constraint on the numbers of nodes. What a node adds to it is what its blocks weigh, what its palette
// weighs, and 1 if it has at least over services (where over is not 0), or if it has the blocks of a pattern; what
// patterns weigh that it has; and 1 if it is of the kind only (where that is not nil).
type row struct {
	block     []int64
	pal       []int64
	over      int64
	pattern   *pattern
	patterns  []weighedPattern
	only      *variety
	low, high int64 // -endless and endless where there is no bound
}

type weighedPattern struct {
	pattern
	weight int64
}

// pattern is nodes with at least these blocks, on the palette, or on any where pal is -1.
type pattern struct {
	blocks bitset.Set
	pal    int
}

func (p *pattern) has(v *variety) bool {
	return (p.pal < 0 || p.pal == v.pal) && p.blocks.SubsetOf(v.blocks)
}

func (r *row) of(v *variety) int64 {
	sum := int64(0)
	if r.block != nil {
		for b := v.blocks.Next(0); b >= 0; b = v.blocks.Next(b + 1) {
			sum += r.block[b]
		}
	}
	if r.pal != nil {
		sum += r.pal[v.pal]
	}
	if r.over > 0 && v.size >= r.over {
		sum++
	}
	if r.pattern != nil && r.pattern.has(v) {
		sum++
	}
	for i := range r.patterns {
		if p := &r.patterns[i]; p.has(v) {
			sum += p.weight
		}
	}
	if r.only != nil && r.only.kind == v.kind {
		sum++
	}
	return sum
}

// rest is what is left to do: nodes to make, the bounds of each row, and the kinds that may not be used.
type rest struct {
	n         int64
	low, high []int64
	shut      []*variety
}

// after returns what is left when count nodes of a variety are taken off.
func (m *mixer) after(st rest, v *variety, count int64) rest {
	out := rest{st.n - count, slices.Clone(st.low), slices.Clone(st.high), st.shut}
	for i := range m.rows {
		a := int64(v.coef[i]) * count
		if out.low[i] > -load.Endless {
			out.low[i] -= a
		}
		if out.high[i] < load.Endless {
			out.high[i] -= a
		}
	}
	return out
}

func (m *mixer) start() rest {
	st := rest{n: int64(m.p.size)}
	for _, r := range m.rows {
		st.low, st.high = append(st.low, r.low), append(st.high, r.high)
	}
	return st
}

// met reports whether nothing is left to do.
func (st rest) met() bool {
	for i := range st.low {
		if st.low[i] > 0 || st.high[i] < 0 {
			return false
		}
	}
	return st.n == 0
}

// use is a number of nodes of a variety.
type use struct {
	v     *variety
	count int64
}

// newMixer states the problem in rows. Palettes come in order of preference; f must have all that may be chosen.
func newMixer(p *problem, f *family, w *watch) *mixer {
	m := &mixer{p: p, f: f, w: w, s: newSearch(f, w, make([]int64, f.blocks)), known: map[string]*variety{},
		kinds: map[string]int{}, costs: make([]int64, len(f.palettes)), most: load.Endless}
	m.typesOf = make([]int, len(f.palettes))
	for i, pal := range f.palettes {
		m.typesOf[i] = slices.IndexFunc(f.palettes, func(o palette) bool { return o.hardware == pal.hardware && o.image == pal.image })
	}
	m.s.weighed = true
	for b, block := range p.blocks {
		r := row{block: make([]int64, f.blocks), low: -load.Endless, high: load.Endless}
		r.block[b] = 1
		if block.min > 0 {
			r.low = int64(block.min)
		}
		if block.max < p.size {
			r.high = int64(max(0, block.max))
		}
		if r.low > -load.Endless || r.high < load.Endless {
			m.rows = append(m.rows, r)
		}
	}
	for _, ratio := range p.ratios {
		r := row{block: make([]int64, f.blocks), low: 0, high: load.Endless}
		r.block[ratio.service] = int64(ratio.per)
		r.block[ratio.of]--
		m.rows = append(m.rows, r)
	}
	for h, limit := range p.limits {
		if limit >= p.size {
			continue
		}
		r := row{pal: make([]int64, len(f.palettes)), low: -load.Endless, high: int64(limit)}
		for i, pal := range f.palettes {
			if pal.hardware == h {
				r.pal[i] = 1
			}
		}
		m.rows = append(m.rows, r)
	}
	return m
}

// addRow adds a row that holds from now on.
func (m *mixer) addRow(r row) {
	m.rows, m.warm = append(m.rows, r), nil
	for _, v := range m.pool {
		v.coef = append(v.coef, float64(r.of(v)))
	}
}

func keyOf(n int, blocks bitset.Set) string {
	key := binary.AppendUvarint(nil, uint64(n))
	for _, w := range blocks {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return string(key)
}

func (m *mixer) kindOf(blocks bitset.Set, pal int) int {
	key := keyOf(m.typesOf[pal], blocks)
	kind, known := m.kinds[key]
	if !known {
		kind = len(m.kinds)
		m.kinds[key] = kind
	}
	return kind
}

// variety sets the one value for these blocks on this palette.
func (m *mixer) variety(blocks bitset.Set, pal int) (v *variety, fresh bool) {
	key := keyOf(pal, blocks)
	if v = m.known[key]; v != nil {
		return v, false
	}
	v = &variety{blocks: blocks.Clone(), pal: pal, size: m.p.base[load.BySize] + m.f.sum(blocks)[load.BySize]}
	v.kind = m.kindOf(blocks, pal)
	for i := range m.rows {
		v.coef = append(v.coef, float64(m.rows[i].of(v)))
	}
	m.known[key] = v
	m.pool = append(m.pool, v)
	return v, true
}

// fits reports whether a node may have these blocks on a palette.
func (m *mixer) fits(blocks bitset.Set, pal int) bool {
	p := &m.f.palettes[pal]
	return blocks.SubsetOf(p.blocks) && m.f.sum(blocks).Within(p.room)
}

// rivals returns a variety of each other kind with the same blocks: those that may not be where v is, if nodes with the same
// services have the same types.
func (m *mixer) rivals(v *variety) (out []*variety) {
	if !m.single {
		return nil
	}
	for p := range m.f.palettes {
		if m.typesOf[p] != m.typesOf[v.pal] && m.fits(v.blocks, p) {
			o, _ := m.variety(v.blocks, p)
			if !slices.ContainsFunc(out, func(k *variety) bool { return k.kind == o.kind }) {
				out = append(out, o)
			}
		}
	}
	return out
}

// clash returns two of the varieties that have the same blocks and different types, where no layout may have both.
func (m *mixer) clash(n int, at func(i int) *variety) (a, b *variety) {
	if !m.single {
		return nil, nil
	}
	for i := range n {
		for j := range i {
			if a, b = at(j), at(i); a.kind != b.kind && a.blocks.Equal(b.blocks) {
				return a, b
			}
		}
	}
	return nil, nil
}

func (m *mixer) clashing(uses []use) bool {
	a, _ := m.clash(len(uses), func(i int) *variety { return uses[i].v })
	return a != nil
}

// roomOf is the room of a palette, for at most so many services in all.
func (m *mixer) roomOf(pal int, most int64) load.Load {
	room := m.f.palettes[pal].room
	room[load.BySize] = min(room[load.BySize], max(0, min(m.most, most)-m.p.base[load.BySize]))
	return room
}

// names returns the services of a variety's blocks, by name.
func (m *mixer) names(v *variety) (out []string) {
	for b := v.blocks.Next(0); b >= 0; b = v.blocks.Next(b + 1) {
		out = append(out, m.p.blocks[b].services...)
	}
	slices.Sort(out)
	return out
}

// mustHave is the clause that no node stays empty.
func (m *mixer) mustHave(open bitset.Set) []bitset.Set {
	if len(m.p.everywhere) > 0 {
		return nil
	}
	return []bitset.Set{open}
}
